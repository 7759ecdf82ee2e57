// The versions of a kind in which owners may have written: an object and the topology that their fields speak of.

import type { StructNode } from '../schema/node.js'
import type { StructTopology } from '../schema/topology.js'
import type { Members } from './members.js'
import { ownableTopology } from './ownable.js'

export interface KindVersions {
  /** The schema of the version of the request. */
  readonly schema: StructNode
  readonly apiVersion: string
  /** The schema of another version of the kind; undefined where it is not known. */
  readonly schemaFor?: ((apiVersion: string) => StructNode | undefined) | undefined
  /** An object of one version of the kind in another one. */
  readonly convert?: ((object: object, to: string, from: string) => object | undefined) | undefined
}

/** 'unknown' where the kind has no such version any more; undefined where nothing can be said of other versions. */
export function topologyAt(kind: KindVersions, apiVersion: string): StructTopology | 'unknown' | undefined {
  if (apiVersion === kind.apiVersion) return ownableTopology(kind.schema)
  if (kind.schemaFor === undefined) return undefined
  const schema = kind.schemaFor(apiVersion)
  return schema === undefined ? 'unknown' : ownableTopology(schema)
}

/** An object of the kind's version in another one. */
export const objectAt = (kind: KindVersions, object: Members, apiVersion: string): Members | undefined =>
  apiVersion === kind.apiVersion ? object : (kind.convert?.(object, apiVersion, kind.apiVersion) as Members | undefined)
