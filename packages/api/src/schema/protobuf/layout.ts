// Protobuf layout of a struct: fields by number, embedded structs as nested messages.

import type { Field, StructNode } from '../node.js'

interface FieldPart {
  /** Field number. */
  readonly proto: number
  readonly name: string
  readonly field: Field
}

interface EmbeddedPart {
  readonly proto: number
  readonly parts: readonly MessagePart[]
}

export type MessagePart = FieldPart | EmbeddedPart

export const isEmbedded = (part: MessagePart): part is EmbeddedPart => 'parts' in part

/** Throws for types that have no Protobuf encoding. */
export function layoutOf(node: StructNode): readonly MessagePart[] {
  if (node.noProto) throw new Error(`${node.name} has no Protobuf encoding`)
  if (node.rest !== undefined) throw new Error(`${node.name} keeps unknown members, which Protobuf cannot encode`)
  return arrange(Object.entries(node.fields), 0)
}

function arrange(fields: readonly (readonly [string, Field])[], depth: number): readonly MessagePart[] {
  const parts: MessagePart[] = []
  const embedded = new Map<number, (readonly [string, Field])[]>()
  for (const entry of fields) {
    const [name, field] = entry
    const embedding = field.via?.[depth]
    if (embedding !== undefined) embedded.set(embedding.proto, [...(embedded.get(embedding.proto) ?? []), entry])
    else if (field.proto !== undefined) parts.push({ proto: field.proto, name, field })
  }
  for (const [proto, inner] of embedded) parts.push({ proto, parts: arrange(inner, depth + 1) })
  return parts.sort((a, b) => a.proto - b.proto)
}

export const tagOf = (proto: number, wireType: number): number => proto * 8 + wireType
