// Schema language of API types. A node says what a value is, how it is encoded in JSON and Protobuf, and how it merges.

export type SchemaNode =
  | StringNode
  | BooleanNode
  | IntegerNode
  | NumberNode
  | BytesNode
  | TimeNode
  | DurationNode
  | QuantityNode
  | IntOrStringNode
  | AnyNode
  | ListNode
  | MapNode
  | StructNode
  | LazyNode

/** Custom resources: values of the wrong type are kept when read, so that validation can report them. */
export interface MaybeLoose {
  readonly loose?: true
  /** Keeps null members; otherwise they are dropped. */
  readonly nullable?: true
}
export interface StringNode extends MaybeLoose {
  readonly type: 'string'
}
export interface BooleanNode extends MaybeLoose {
  readonly type: 'boolean'
}
export interface IntegerNode extends MaybeLoose {
  readonly type: 'integer'
  readonly bits: 32 | 64
}
export interface NumberNode extends MaybeLoose {
  readonly type: 'number'
}
/** Base64 text in JSON, raw bytes in Protobuf. */
export interface BytesNode {
  readonly type: 'bytes'
}
/** RFC 3339 in JSON, in whole seconds, or with six decimals if `micro`. */
export interface TimeNode {
  readonly type: 'time'
  readonly micro: boolean
}
/** Go duration such as `1h30m` in JSON. */
export interface DurationNode {
  readonly type: 'duration'
}
export interface QuantityNode {
  readonly type: 'quantity'
}
export interface IntOrStringNode extends MaybeLoose {
  readonly type: 'intOrString'
}
/** Unstructured JSON. `form` is its Protobuf message: RawExtension, JSON, FieldsV1, runtime.Unknown, or a union of JSONSchemaProps. */
export interface AnyNode extends MaybeLoose {
  readonly type: 'any'
  readonly form: 'raw' | 'json' | 'fields' | 'unknown' | 'schemaOrArray' | 'schemaOrBool' | 'schemaOrStrings'
  readonly schema?: LazyNode
  /** For custom resources: field managers own single members of objects. Otherwise the value is atomic. */
  readonly granular?: boolean
}

export interface ListNode<Item extends SchemaNode = SchemaNode> extends MaybeLoose {
  readonly type: 'list'
  readonly item: Item
  readonly listType?: 'atomic' | 'set' | 'map'
  /** Keys of a list of type `map`. */
  readonly keys?: readonly string[]
  readonly patchStrategy?: PatchStrategy
  readonly patchMergeKey?: string
  /** Protobuf wraps the list in a message, such as the values of `extra`. */
  readonly protoWrapped?: boolean
}

export interface MapNode<Value extends SchemaNode = SchemaNode> extends MaybeLoose {
  readonly type: 'map'
  readonly value: Value
  readonly mapType?: 'atomic' | 'granular'
}

export interface StructNode<Fields extends FieldTable = FieldTable> extends MaybeLoose {
  readonly type: 'struct'
  readonly name: string
  /** Go package such as `api.core.v1`, the prefix of the OpenAPI definition. Types without one are inlined. */
  readonly home?: string
  readonly fields: Fields
  readonly mapType?: 'atomic' | 'granular'
  /** The struct has `kind` and `apiVersion`. */
  readonly typeMeta?: boolean
  /** Type of members that are not in `fields`; without it they are unknown and dropped. */
  readonly rest?: SchemaNode
  readonly noProto?: boolean
  readonly unions?: readonly Union[]
  /** OpenAPI keywords of `items` in this kind's List type. */
  readonly inList?: InList
  readonly description?: string
}

export interface Union {
  readonly discriminator: string
  readonly values: { readonly [field: string]: string }
}

export interface InList {
  readonly optional?: boolean
  readonly listType?: NonNullable<ListNode['listType']>
  readonly keys?: readonly string[]
}

export interface LazyNode {
  readonly type: 'lazy'
  readonly resolve: () => Exclude<SchemaNode, LazyNode>
}

export type PatchStrategy = 'merge' | 'replace' | 'retainKeys' | 'merge,retainKeys'

export type FieldTable = { readonly [name: string]: Field }

export interface Field<Node extends SchemaNode = SchemaNode> {
  readonly node: Node
  readonly proto?: number
  readonly protoName?: string
  /** Pointer in Go: zero differs from absent. */
  readonly pointer?: boolean
  /** No `omitempty` in Go: written even if absent or zero. */
  readonly always?: boolean
  readonly required?: boolean
  /** Published in OpenAPI v3 and used for absent keys of `map` lists. Not filled into objects, which kinds default by functions. */
  readonly default?: unknown
  readonly enum?: readonly string[]
  readonly patchStrategy?: PatchStrategy
  /** Published in OpenAPI only. */
  readonly patchMergeKey?: string
  readonly listType?: NonNullable<ListNode['listType']>
  readonly mapType?: 'atomic' | 'granular'
  /** Embedded structs that contain the field, outermost first: nested in Protobuf, inlined in JSON. */
  readonly via?: readonly Embedding[]
}

export interface Embedding {
  readonly proto: number
  readonly name: string
}

type FieldOptions = Omit<Field, 'node' | 'proto'>

export const string: StringNode = { type: 'string' }
export const boolean: BooleanNode = { type: 'boolean' }
export const int32: IntegerNode = { type: 'integer', bits: 32 }
export const int64: IntegerNode = { type: 'integer', bits: 64 }
export const number: NumberNode = { type: 'number' }
export const bytes: BytesNode = { type: 'bytes' }
export const time: TimeNode = { type: 'time', micro: false }
export const microTime: TimeNode = { type: 'time', micro: true }
export const duration: DurationNode = { type: 'duration' }
export const quantity: QuantityNode = { type: 'quantity' }
export const intOrString: IntOrStringNode = { type: 'intOrString' }
export const any = (form: AnyNode['form'], schema?: LazyNode): AnyNode => ({ type: 'any', form, ...(schema && { schema }) })

export const list = <Item extends SchemaNode>(item: Item, options: Omit<ListNode, 'type' | 'item'> = {}): ListNode<Item> => ({
  type: 'list',
  item,
  ...options,
})

export const map = <Value extends SchemaNode>(value: Value, options: Omit<MapNode, 'type' | 'value'> = {}): MapNode<Value> => ({
  type: 'map',
  value,
  ...options,
})

type StructOptions = Omit<StructNode, 'type' | 'name' | 'fields'>

export const struct = <const Fields extends FieldTable, const Options extends StructOptions = Record<never, never>>(
  name: string,
  fields: Fields,
  options?: Options,
): StructNode<Fields> & Options => ({ type: 'struct', name, fields, ...(options as Options) })

export const structsOf =
  (home: string): typeof struct =>
  (name, fields, options) => ({ ...struct(name, fields, options), home })

export const atomicStructsOf =
  (home: string) =>
  <const Fields extends FieldTable>(name: string, fields: Fields): StructNode<Fields> & { readonly mapType: 'atomic' } =>
    structsOf(home)(name, fields, { mapType: 'atomic' })

export const lazy = (resolve: LazyNode['resolve']): LazyNode => ({ type: 'lazy', resolve })

export const field = <Node extends SchemaNode, const Options extends FieldOptions = Record<never, never>>(
  proto: number,
  node: Node,
  options?: Options,
): Field<Node> & Options => ({ node, proto, ...(options as Options) })

const zeroByType: { readonly [type: string]: unknown } = { string: '', boolean: false, integer: 0, number: 0, struct: {} }

/** Required field: written even if zero. Strings, booleans, numbers and structs publish their zero value as default. */
export const required = <Node extends SchemaNode>(proto: number, node: Node, options?: FieldOptions): Field<Node> => {
  const zero = zeroByType[node.type]
  return { node, proto, always: true, required: true, ...(zero !== undefined && { default: zero }), ...options }
}

export const jsonField = <Node extends SchemaNode, const Options extends FieldOptions = Record<never, never>>(
  node: Node,
  options?: Options,
): Field<Node> & Options => ({ node, ...(options as Options) })

/** Fields of an embedded struct: inlined in JSON, nested under `proto` in Protobuf. */
export const embed = <Fields extends FieldTable>(proto: number, node: StructNode<Fields>): Fields => {
  const entries = Object.entries(node.fields).map(([name, inner]) => [
    name,
    { ...inner, via: [{ proto, name: node.name }, ...(inner.via ?? [])] },
  ])
  return Object.fromEntries(entries) as Fields
}

export const isNullable = (node: SchemaNode): boolean => 'nullable' in node && node.nullable === true

export const isLoose = (node: SchemaNode): boolean => 'loose' in node && node.loose === true

export const resolve = (node: SchemaNode): Exclude<SchemaNode, LazyNode> => (node.type === 'lazy' ? node.resolve() : node)
