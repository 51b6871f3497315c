//go:build race

package process_test

// raceDetector says that this program was built with the race detector.
const raceDetector = true
