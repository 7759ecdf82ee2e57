// Port forwarding to simulated pods: each connection is a data stream and an error stream, over SPDY or WebSocket.

import type { Duplex } from 'node:stream'
import type { Pod } from '@cluster-apiserver/api/resources/core/v1.schema.js'
import { connectTo } from './pod-ports.js'
import { send } from './remote-command.js'
import type { PodName, SimulatedPods } from './simulated-pods.js'
import type { SpdyStream } from './spdy-connection.js'

interface PortStreams {
  readonly port: number
  readonly data: Duplex
  readonly error: Duplex
}

/** Connects two streams with a port of the pod. A closed port is a message on the error stream. */
export async function forwardPort(pods: SimulatedPods, name: PodName, { port, data, error }: PortStreams): Promise<void> {
  const pod = pods.read(name)
  const script = pod && pods.portOf(pod, port)
  if (script === undefined) {
    data.resume()
    await send(error, `error forwarding port ${port} to pod ${uidOf(pod)}: connect: connection refused: ${hintOf(port)}`)
    error.end()
    data.end()
    return
  }
  const connection = connectTo(script)
  data.once('close', () => connection.destroy())
  data.pipe(connection)
  connection.pipe(data)
  connection.once('end', () => error.end())
}

const uidOf = (pod: Pod | undefined): string => pod?.metadata?.uid ?? ''

const hintOf = (port: number): string => `the pod is simulated, and no rule of a running container has port ${port} in "ports"`

/** Pairs the streams of a SPDY connection by their request ids. */
export function pairStreams(onPair: (streams: PortStreams) => void): (stream: SpdyStream) => void {
  const waiting = new Map<string, SpdyStream>()
  return (stream) => {
    const { streamtype, port = '', requestid = port } = stream.headers
    const other = waiting.get(requestid)
    if (other === undefined || other.headers['streamtype'] === streamtype) {
      waiting.set(requestid, stream)
      stream.once('close', () => waiting.get(requestid) === stream && waiting.delete(requestid))
      return
    }
    waiting.delete(requestid)
    const [data, error] = streamtype === 'data' ? [stream, other] : [other, stream]
    error.resume()
    onPair({ port: Number(port), data, error })
  }
}
