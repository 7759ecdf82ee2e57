// How types are called in OpenAPI: the package of a type under a reversed domain, such as `api.core.v1` and `Pod`. The domain is the
// original one under either identity: the rule between the two vocabularies, as the recordings apply it, leaves these names alone.

import { identityOf } from '../../api/identity.js'

const reversed = (domain: string): string => domain.split('.').reverse().join('.')

const original = identityOf('kubernetes')

/** A package that carries the brand in its own name. */
const aggregator = original.prefixed('aggregator')

/** The place of a custom kind, whose group is somebody's domain; no package has a slash in its name. */
export const customHome = ({ group, version }: { readonly group: string; readonly version: string }): string => `${group}/${version}`

/** Whether a type belongs to one kind alone, and not to a package. */
export const isCustomHome = (home: string): boolean => home.includes('/')

export function componentName(home: string, name: string): string {
  const [group = '', version] = home.split('/')
  if (version !== undefined) return `${reversed(group)}.${version}.${name}`
  const [first = '', ...rest] = home.split('.')
  const stem = aggregator.endsWith(`-${first}`) ? aggregator : first
  return [reversed(original.group({ stem })), ...rest, name].join('.')
}
