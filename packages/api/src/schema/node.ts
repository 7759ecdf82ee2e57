// The schema language: a closed union of nodes that say what a value is, how it lies in Protobuf and how it merges.
// Every fact of a field stands here once; the readings (read, write, default, topology, openapi, protobuf, infer) are derived.

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

/** A node of a custom kind. What is of another shape is kept as it is, zero values included: the kind's own rules refuse it. */
export interface MaybeLoose {
  readonly loose?: true
  /** Of a loose node: null is a value. Else a member that is null is left out. */
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
/** RFC 3339 in JSON; `micro` keeps six decimals, else whole seconds. */
export interface TimeNode {
  readonly type: 'time'
  readonly micro: boolean
}
/** Text such as `1h30m` in JSON. */
export interface DurationNode {
  readonly type: 'duration'
}
/** Text such as `1500m`; numbers are accepted and become text. */
export interface QuantityNode {
  readonly type: 'quantity'
}
export interface IntOrStringNode extends MaybeLoose {
  readonly type: 'intOrString'
}
/**
 * JSON that is kept as it is. `form` says how it lies in Protobuf: `raw` (a message with the bytes of an embedded object),
 * `json` (a message with JSON text), `fields` (the map of owned fields), `unknown` (an envelope around JSON), and for the unions
 * of JSON schemas their own shapes.
 */
export interface AnyNode {
  readonly type: 'any'
  readonly form: 'raw' | 'json' | 'fields' | 'unknown' | 'schemaOrArray' | 'schemaOrBool' | 'schemaOrStrings'
  /** What the schema in a union of JSON schemas is; the other forms have none. */
  readonly schema?: LazyNode
  /** Objects inside are owned member by member (custom resources that keep unknown members); else the value is owned as one. */
  readonly granular?: boolean
}

export interface ListNode<Item extends SchemaNode = SchemaNode> extends MaybeLoose {
  readonly type: 'list'
  readonly item: Item
  readonly listType?: 'atomic' | 'set' | 'map'
  /** The fields that identify an item of a `map` list. */
  readonly keys?: readonly string[]
  readonly patchStrategy?: PatchStrategy
  readonly patchMergeKey?: string
  /** A list that Protobuf wraps in a message of its own (a named list type such as the values of `extra`). */
  readonly protoWrapped?: boolean
}

export interface MapNode<Value extends SchemaNode = SchemaNode> extends MaybeLoose {
  readonly type: 'map'
  readonly value: Value
  readonly mapType?: 'atomic' | 'granular'
}

export interface StructNode<Fields extends FieldTable = FieldTable> extends MaybeLoose {
  readonly type: 'struct'
  /** The type's name in the catalogue, such as `EndpointSubset`. */
  readonly name: string
  /** The package of the type, such as `api.core.v1`: OpenAPI publishes it under this name, and types without one where they are used. */
  readonly home?: string
  readonly fields: Fields
  readonly mapType?: 'atomic' | 'granular'
  /** Whether the JSON carries `kind` and `apiVersion` in front of the fields. */
  readonly typeMeta?: boolean
  /** What members beyond the fields are, where a custom resource keeps them; absent where there are none. */
  readonly rest?: SchemaNode
  /** Types that exist only as JSON. */
  readonly noProto?: boolean
  /** Which member goes with which value of the discriminating one. */
  readonly unions?: readonly Union[]
  /** What is unusual about the items of this kind's list. */
  readonly inList?: InList
  readonly description?: string
}

export interface Union {
  readonly discriminator: string
  readonly values: { readonly [field: string]: string }
}

export interface InList {
  /** A list may come without items. */
  readonly optional?: boolean
  readonly listType?: NonNullable<ListNode['listType']>
  readonly keys?: readonly string[]
}

/** Stands for a node that refers to itself; resolved on first use. */
export interface LazyNode {
  readonly type: 'lazy'
  readonly resolve: () => Exclude<SchemaNode, LazyNode>
}

export type PatchStrategy = 'merge' | 'replace' | 'retainKeys' | 'merge,retainKeys'

/** The fields of a struct by their JSON name, in the order in which they are written. */
export type FieldTable = { readonly [name: string]: Field }

export interface Field<Node extends SchemaNode = SchemaNode> {
  readonly node: Node
  /** The field number; absent for fields that exist only in JSON. */
  readonly proto?: number
  /** The name in Protobuf where it is not the JSON name. */
  readonly protoName?: string
  /** Absent and zero are two things: a zero value is written. */
  readonly pointer?: boolean
  /** Written even when zero. */
  readonly always?: boolean
  readonly required?: boolean
  /** The default that is published, and that fills in keys of `map` lists; what the server fills in is the kind's own rule. */
  readonly default?: unknown
  readonly enum?: readonly string[]
  /** The enumeration names known values and excludes no others. */
  readonly enumOpen?: boolean
  readonly patchStrategy?: PatchStrategy
  /** Marks of lists on what is none: they are published, and mean nothing. */
  readonly patchMergeKey?: string
  readonly listType?: NonNullable<ListNode['listType']>
  /** Map type of this use of a struct, where it differs from the struct's own. */
  readonly mapType?: 'atomic' | 'granular'
  /** In Protobuf this field lies inside nested messages, outermost first: JSON flattens what Go embeds. */
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

/** Makes the structs of one package. */
export const structsOf =
  (home: string): typeof struct =>
  (name, fields, options) => ({ ...struct(name, fields, options), home })

export const lazy = (resolve: LazyNode['resolve']): LazyNode => ({ type: 'lazy', resolve })

/** A field with its Protobuf number. */
export const field = <Node extends SchemaNode, const Options extends FieldOptions = Record<never, never>>(
  proto: number,
  node: Node,
  options?: Options,
): Field<Node> & Options => ({ node, proto, ...(options as Options) })

/** A field that exists only in JSON. */
export const jsonField = <Node extends SchemaNode, const Options extends FieldOptions = Record<never, never>>(
  node: Node,
  options?: Options,
): Field<Node> & Options => ({ node, ...(options as Options) })

/** The fields of an embedded struct, which JSON flattens into the outer one and Protobuf nests under `proto`. */
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
