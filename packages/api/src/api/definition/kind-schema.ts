// Builds the struct schemas of kinds, with `kind`, `apiVersion` and `metadata`.

import { type Field, type FieldTable, field, type StructNode, structsOf } from '../../schema/node.js'
import { objectMeta } from '../meta.schema.js'

type Options = Omit<StructNode, 'type' | 'name' | 'fields' | 'typeMeta'>
type KindNode<Fields extends FieldTable> = StructNode<{ readonly metadata: Field<typeof objectMeta> } & Fields> & {
  readonly typeMeta: true
}

const metadata = field(1, objectMeta, { default: {} })

/** `packageName`: prefix of OpenAPI definition names, such as `api.core.v1`. */
export const kindsOf =
  (packageName: string) =>
  <const Fields extends FieldTable>(name: string, fields: Fields, options: Options = {}): KindNode<Fields> =>
    structsOf(packageName)(name, { metadata, ...fields }, { ...options, typeMeta: true })

/** Kinds with a spec as field 2 and a status as field 3. */
export const specKindsOf = (packageName: string) => {
  const kind = kindsOf(packageName)
  return <Spec extends StructNode, Status extends StructNode>(name: string, spec: Spec, status: Status) =>
    kind(name, { spec: field(2, spec, { default: {} }), status: field(3, status, { default: {} }) })
}
