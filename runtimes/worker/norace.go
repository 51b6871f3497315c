//go:build !race

package worker

// raceDetector says that this program was built with the race detector.
const raceDetector = false
