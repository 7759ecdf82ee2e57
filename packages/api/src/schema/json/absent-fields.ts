// Adds fields that JSON shows although an object lacks them, such as `status.replicas: 0`: patches refer to the JSON of the object.

import { isLoose, resolve, type SchemaNode, type StructNode } from '../node.js'
import { isRecord, setMember } from './read.js'
import { absentText } from './write.js'

type Add = (value: unknown) => unknown

const compiled = new WeakMap<SchemaNode, Add | undefined>()

/** The value with the fields that its JSON shows. Shares all parts that gain none. */
export const withAbsentFields = (node: SchemaNode, value: unknown): unknown => adderOf(resolve(node))?.(value) ?? value

/** Undefined if no value of the schema gains fields. */
function adderOf(schema: SchemaNode): Add | undefined {
  const node = resolve(schema)
  if (compiled.has(node)) return compiled.get(node)
  // Ends the recursion of recursive types.
  let adder: Add | undefined = (value) => adder?.(value) ?? value
  compiled.set(node, (value) => adder?.(value) ?? value)
  adder = compile(node)
  compiled.set(node, adder)
  return adder
}

function compile(node: SchemaNode): Add | undefined {
  switch (node.type) {
    case 'list': {
      const add = adderOf(node.item)
      return add && ((value) => (Array.isArray(value) ? addToItems(value, add) : value))
    }
    case 'map': {
      const add = adderOf(node.value)
      return add && ((value) => (isRecord(value) ? addToMembers(value, () => add, []) : value))
    }
    case 'struct':
      return compileStruct(node)
    default:
      return undefined
  }
}

interface AbsentField {
  readonly name: string
  readonly value: unknown
}

function compileStruct(node: StructNode): Add | undefined {
  const absent: AbsentField[] = []
  const adders = new Map<string, Add>()
  for (const [name, field] of Object.entries(node.fields)) {
    const text = isLoose(node) ? undefined : absentText(field)
    if (text !== undefined) absent.push({ name, value: JSON.parse(text) })
    const add = adderOf(field.node)
    if (add !== undefined) adders.set(name, add)
  }
  if (absent.length === 0 && adders.size === 0) return undefined
  return (value) => (isRecord(value) ? addToMembers(value, (name) => adders.get(name), absent) : value)
}

function addToItems(items: readonly unknown[], add: Add): readonly unknown[] {
  let out: unknown[] | undefined
  for (let i = 0; i < items.length; i++) {
    const after = add(items[i])
    if (after === items[i]) continue
    out ??= [...items]
    out[i] = after
  }
  return out ?? items
}

function addToMembers(
  members: Record<string, unknown>,
  adderFor: (name: string) => Add | undefined,
  absent: readonly AbsentField[],
): Record<string, unknown> {
  let out: Record<string, unknown> | undefined
  for (const name in members) {
    const member = members[name]
    const after = adderFor(name)?.(member) ?? member
    if (after === member) continue
    out ??= { ...members }
    setMember(out, name, after)
  }
  for (const { name, value } of absent) {
    const member = members[name]
    if (member !== undefined && member !== null) continue
    out ??= { ...members }
    setMember(out, name, value)
  }
  return out ?? members
}
