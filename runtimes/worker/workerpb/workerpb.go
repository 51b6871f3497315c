// Package workerpb is the protocol between a host and a worker process, as generated from
// worker.proto.
//
//	stream, err := workerpb.NewWorkerClient(connection).Call(ctx)
//	err = stream.Send(&workerpb.FromHost{Message: &workerpb.FromHost_Call{Call: call}})
//	message, err := stream.Recv()
package workerpb

//go:generate protoc --go_out=. --go_opt=paths=source_relative --go-grpc_out=. --go-grpc_opt=paths=source_relative worker.proto
