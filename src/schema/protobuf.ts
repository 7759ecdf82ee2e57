// The Protobuf reading of schemas: objects to messages and back. The envelope around them is not its business.

import { readerOf } from '../base/protobuf-reader.js'
import { collectBytes, type ProtoWriter } from '../base/protobuf-writer.js'
import type { StructNode } from './node.js'
import { messageReader } from './protobuf-decode.js'
import { messageWriter } from './protobuf-encode.js'
import type { ParseJson } from './protobuf-messages.js'

/** Whether objects of this schema have a Protobuf form. */
export const hasProtobuf = (node: StructNode): boolean => node.noProto !== true

/** The message of an object. Throws where the type exists only as JSON. */
export const encodeMessage = (node: StructNode, value: unknown): Uint8Array => collectBytes((writer) => writeMessage(writer, node, value))

/** The same into a buffer that is being filled from its end. */
export const writeMessage = (writer: ProtoWriter, node: StructNode, value: unknown): void => messageWriter(node)(writer, value)

/** The object of a message. Throws a ProtobufReadError. Fields that the schema does not know are passed over. */
export function decodeMessage(node: StructNode, bytes: Uint8Array, parseJson: ParseJson): Record<string, unknown> {
  const target: Record<string, unknown> = {}
  messageReader(node)({ ...readerOf(bytes), parseJson }, target)
  return target
}
