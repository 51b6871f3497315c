package bundle

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
)

// An entry of a [Cache] is read at each start of the program for each plugin. encoding/gob
// would work out its types anew for each, which takes longer than all the rest.

// encode gives what an entry holds as bytes.
func (k *kept) encode() []byte {
	var w entryWriter
	w.number(len(k.Inputs))
	for _, i := range k.Inputs {
		w.text(i.Path)
		w = append(w, i.Sum[:]...)
	}
	w.number(len(k.Sights))
	for _, s := range k.Sights {
		w.text(s.Path)
		for _, n := range s.Stamp.numbers() {
			w = binary.BigEndian.AppendUint64(w, *n)
		}
	}
	w.number(len(k.Answers))
	for _, t := range k.Answers {
		w.text(t.Question.Name)
		w.flag(t.Question.Link)
		w.text(t.Answer)
	}
	w.number(len(k.Scripts))
	for _, s := range k.Scripts {
		w.text(s.Name)
		w.text(s.Code)
		w.flag(s.Async)
		w.text(string(s.MapText))
		w.text(string(s.MapPack))
	}
	return w
}

type entryWriter []byte

func (w *entryWriter) number(n int) { *w = binary.AppendUvarint(*w, uint64(n)) }

func (w *entryWriter) text(s string) {
	w.number(len(s))
	*w = append(*w, s...)
}

func (w *entryWriter) flag(on bool) {
	if on {
		*w = append(*w, 1)
	} else {
		*w = append(*w, 0)
	}
}

var errNoEntry = errors.New("no entry")

// decode reads what encode gave; other bytes are an error.
func (k *kept) decode(data []byte) error {
	r := entryReader{data: data}
	for range r.number() {
		i := Input{Path: string(r.bytes(r.number()))}
		copy(i.Sum[:], r.bytes(sha256.Size))
		if k.Inputs = append(k.Inputs, i); r.bad {
			return errNoEntry
		}
	}
	for range r.number() {
		s := sight{Path: string(r.bytes(r.number()))}
		for _, n := range s.Stamp.numbers() {
			if b := r.bytes(8); b != nil {
				*n = binary.BigEndian.Uint64(b)
			}
		}
		if k.Sights = append(k.Sights, s); r.bad {
			return errNoEntry
		}
	}
	for range r.number() {
		t := told{Question: question{Name: string(r.bytes(r.number())), Link: r.flag()}, Answer: string(r.bytes(r.number()))}
		if k.Answers = append(k.Answers, t); r.bad {
			return errNoEntry
		}
	}
	for range r.number() {
		s := keptScript{
			Name: string(r.bytes(r.number())), Code: string(r.bytes(r.number())), Async: r.flag(),
			MapText: r.bytes(r.number()), MapPack: r.bytes(r.number()),
		}
		if k.Scripts = append(k.Scripts, s); r.bad {
			return errNoEntry
		}
	}
	if r.bad || len(r.data) > 0 {
		return errNoEntry
	}
	return nil
}

// entryReader reads from what is left of an entry. Once something is not there it is bad,
// and gives nothing any more.
type entryReader struct {
	data []byte
	bad  bool
}

// number reads a number that counts bytes or things of at least one byte, so that none is
// larger than what is left.
func (r *entryReader) number() int {
	n, size := binary.Uvarint(r.data)
	if r.bad || size <= 0 || n > uint64(len(r.data)-size) {
		r.bad, r.data = true, nil
		return 0
	}
	r.data = r.data[size:]
	return int(n)
}

func (r *entryReader) bytes(n int) []byte {
	if n > len(r.data) {
		r.bad, r.data = true, nil
		return nil
	}
	b := r.data[:n:n]
	r.data = r.data[n:]
	if n == 0 {
		return nil
	}
	return b
}

func (r *entryReader) flag() bool {
	b := r.bytes(1)
	return len(b) == 1 && b[0] == 1
}
