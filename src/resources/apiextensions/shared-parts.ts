// What all versions of a custom kind have in common. Rules and errors speak of such a part as one of the whole definition,
// as an older form of this API did; only what differs from version to version is spoken of there.

import { sameBySchema } from '../../api/validation/same-by-schema.js'
import type { SchemaNode } from '../../schema/node.js'
import { customResourceDefinitionVersion, type CustomResourceDefinitionVersion as Version } from './v1.schema.js'

export interface SharedParts {
  readonly schema: boolean
  readonly subresources: boolean
  readonly additionalPrinterColumns: boolean
}

const { fields } = customResourceDefinitionVersion

/** Which parts are the same in all versions, absence included. */
export const sharedParts = (versions: readonly Version[]): SharedParts => ({
  schema: isShared(
    versions.map(({ schema }) => schema),
    fields.schema.node,
  ),
  subresources: isShared(
    versions.map(({ subresources }) => subresources),
    fields.subresources.node,
  ),
  additionalPrinterColumns: isShared(
    versions.map(({ additionalPrinterColumns }) => additionalPrinterColumns ?? []),
    fields.additionalPrinterColumns.node,
  ),
})

function isShared([first, ...others]: readonly (object | undefined)[], node: SchemaNode): boolean {
  return others.every((other) => (first === undefined || other === undefined ? first === other : sameBySchema(node, first, other)))
}
