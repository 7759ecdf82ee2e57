// Encodes name and data of a ConfigMap in the Protobuf envelope, without code of the server.

import type { configMap } from './objects.js'

/** Protobuf media type of a server with the default `--identity=cluster`. */
export const protobufType = 'application/vnd.cluster.protobuf'

function varint(value: number): number[] {
  const bytes: number[] = []
  let rest = value
  for (; rest >= 0x80; rest = rest >>> 7) bytes.push((rest & 0x7f) | 0x80)
  return [...bytes, rest]
}

const field = (number: number, content: Buffer): Buffer =>
  Buffer.concat([Buffer.from([number * 8 + 2, ...varint(content.length)]), content])
const text = (number: number, content: string): Buffer => field(number, Buffer.from(content))

export function protobufBody({ apiVersion, kind, metadata, data }: ReturnType<typeof configMap>): Buffer {
  const entries = Object.entries(data).map(([key, value]) => field(2, Buffer.concat([text(1, key), text(2, value)])))
  const message = Buffer.concat([field(1, text(1, metadata.name)), ...entries])
  const type = field(1, Buffer.concat([text(1, apiVersion), text(2, kind)]))
  return Buffer.concat([Buffer.from('k8s\0'), type, field(2, message)])
}
