// TypeScript types of schemas: the type of the values that a node describes.

import type {
  AnyNode,
  BooleanNode,
  FieldTable,
  IntegerNode,
  IntOrStringNode,
  LazyNode,
  ListNode,
  MapNode,
  NumberNode,
  SchemaNode,
  StructNode,
} from './node.js'

export type Infer<Node extends SchemaNode> =
  Node extends StructNode<infer Fields>
    ? InferFields<Fields> &
        (Node extends { typeMeta: true } ? { readonly kind?: string; readonly apiVersion?: string } : unknown) &
        (Node extends { rest: SchemaNode } ? { readonly [name: string]: unknown } : unknown)
    : Node extends ListNode<infer Item>
      ? readonly Infer<Item>[]
      : Node extends MapNode<infer Value>
        ? { readonly [key: string]: Infer<Value> }
        : Node extends BooleanNode
          ? boolean
          : Node extends IntegerNode | NumberNode
            ? number
            : Node extends IntOrStringNode
              ? number | string
              : Node extends AnyNode | LazyNode
                ? unknown
                : string

type InferFields<Fields extends FieldTable> = {
  readonly [Name in keyof Fields as string extends Name ? never : Name]?: Infer<Fields[Name]['node']>
}
