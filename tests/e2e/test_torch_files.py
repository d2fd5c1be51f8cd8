"""Files that measurements of PyTorch write: whole, or one error and nothing. Needs no PyTorch."""

import contextlib
import os
import pathlib
import resource
import sys
import tempfile
import unittest
from unittest import mock

import harness

sys.path.insert(0, str(harness.TOP / "runtime" / "python"))
import syncline  # noqa: E402, the package of these sources
from syncline.torch import files  # noqa: E402


class TorchFilesTest(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.file = self.folder / "a.yaml"

    def refused(self, path, expected, writes=(files.check_writable,)):
        """Each says one error, which names the path, and leaves the folder as it was."""
        before = sorted(os.listdir(self.folder))
        for write in writes:
            with self.assertRaisesRegex(syncline.Error, f"cannot be written: {expected}$") as said:
                write(path)
            self.assertIn(str(path).strip("\0b"), str(said.exception))
        self.assertEqual(sorted(os.listdir(self.folder)), before)

    def test_refuses_what_is_no_file(self):
        """Before a measurement and at its end."""
        link, loop, fifo = (self.folder / name for name in ("link", "loop", "fifo"))
        link.symlink_to("nothing")
        loop.symlink_to("loop")
        os.mkfifo(fifo)
        for path, expected in (
            (link, "No such file or directory"),
            (loop, "Too many levels of symbolic links"),
            (fifo, "Not a regular file"),
            (pathlib.Path("/dev/null"), "Not a regular file"),
            (self.folder, "Is a directory"),
            (pathlib.Path(), "Is a directory"),
            (self.folder / "none" / "a.yaml", "No such file or directory"),
            (fifo / "a.yaml", "Not a directory"),
            (self.folder / ("a" * 300), "File name too long"),
            (self.folder / "a\0b", "embedded null byte"),
        ):
            with self.subTest(path):
                self.refused(path, expected, (files.check_writable, lambda at: files.write(at, "")))
        self.assertTrue(pathlib.Path("/dev/null").is_char_device())

    def test_refuses_what_is_read_only(self):
        """A file, and then the folder of a new one."""
        self.file.write_text("before")
        self.file.chmod(0o444)
        self.addCleanup(self.folder.chmod, 0o755)
        for mode, path in ((0o777, self.file), (0o555, self.folder / "new.yaml")):
            self.folder.chmod(mode)
            with self.subTest(path.name), no_root():
                self.refused(path, "Permission denied")

    def test_leaves_what_was_there(self):
        """Where the file cannot be written whole. A name may have the system's full length."""
        long = self.folder / ("a" * 255)
        for file in (self.file, long):
            files.check_writable(file)
            self.assertFalse(file.exists())
            files.write(file, "before")
            files.check_writable(file)
            with full_disk():
                self.refused(file, "File too large", [lambda at: files.write(at, "after")])
            self.assertEqual(file.read_text(), "before")

    def test_writes_through_links(self):
        link = self.folder / "link"
        link.symlink_to("a.yaml")
        self.file.write_text("before")
        files.check_writable(link)
        files.write(link, "after")
        self.assertTrue(link.is_symlink())
        self.assertEqual(self.file.read_text(), "after")

    def test_temporary_files(self):
        """Errors name what is in the folder without it, and a full disk is one error."""
        with self.assertRaisesRegex(syncline.UsageError, "^'a.onnx': wrong$"):
            with files.scratch() as folder:
                raise syncline.UsageError(f"'{folder / 'a.onnx'}': wrong")
        with self.assertRaisesRegex(
            syncline.Error, "^temporary files cannot be written: .*File too large"
        ):
            with full_disk(), files.scratch() as folder:
                (folder / "a.onnx").write_text("text")
        with mock.patch.object(tempfile, "tempdir", "/none"):
            with self.assertRaisesRegex(syncline.Error, "^temporary files cannot be .*none"):
                with files.scratch():
                    pass


@contextlib.contextmanager
def no_root():
    """Without root's rights, whom permissions do not stop."""
    user = os.geteuid()
    if user == 0:
        os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(user)


@contextlib.contextmanager
def full_disk():
    """No file may grow, as on a disk that is full."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


if __name__ == "__main__":
    unittest.main()
