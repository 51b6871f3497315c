package child

import (
	"bufio"
	"errors"
	"io"
	"os"
)

// ReadLine reads one line and keeps at most limit bytes of it; more says that there were
// more. At the end of the stream it gives what there is, with io.EOF, also where the pipe
// was closed on this side.
func ReadLine(r *bufio.Reader, limit int) (line []byte, more bool, err error) {
	for {
		part, err := r.ReadSlice('\n')
		if n := min(len(part), limit-len(line)); n < len(part) {
			line, more = append(line, part[:n]...), true
		} else {
			line = append(line, part...)
		}
		switch {
		case err == nil:
			return line, more, nil
		case errors.Is(err, bufio.ErrBufferFull):
		default:
			if errors.Is(err, os.ErrClosed) || errors.Is(err, os.ErrDeadlineExceeded) {
				err = io.EOF
			}
			return line, more, err
		}
	}
}
