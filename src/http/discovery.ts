// Which groups, versions and resources there are, in the documents with which clients begin.

import { createHash } from 'node:crypto'
import type { Catalog, GroupVersion, Resource } from '../api/catalog.js'
import type { SubresourceDefinition } from '../api/definition.js'
import type { Identity } from '../api/identity.js'
import { compareText } from '../base/text-order.js'

export type Document = { readonly [key: string]: unknown }

export const versionsDocument = (catalog: Catalog, serverAddress: string): Document => ({
  kind: 'APIVersions',
  versions: catalog.groupVersions().flatMap(({ group, version }) => (group === '' ? [version] : [])),
  serverAddressByClientCIDRs: [{ clientCIDR: '0.0.0.0/0', serverAddress }],
})

export const groupListDocument = (catalog: Catalog): Document => ({
  kind: 'APIGroupList',
  apiVersion: 'v1',
  groups: groupNames(catalog).map((group) => groupOf(catalog, group)),
})

export function groupDocument(catalog: Catalog, group: string): Document | undefined {
  return group !== '' && catalog.hasGroup(group) ? { kind: 'APIGroup', apiVersion: 'v1', ...groupOf(catalog, group) } : undefined
}

export function resourceListDocument(catalog: Catalog, { group, version }: GroupVersion): Document | undefined {
  if (!catalog.hasVersion(group, version)) return undefined
  const resources = catalog.all().filter((resource) => resource.group === group && resource.version === version)
  return {
    kind: 'APIResourceList',
    ...(group === '' ? {} : { apiVersion: 'v1' }),
    groupVersion: group === '' ? version : `${group}/${version}`,
    resources: resources.flatMap((resource) => describe(catalog.identity, resource)).sort((a, b) => compareText(a.name, b.name)),
  }
}

const groupNames = (catalog: Catalog): readonly string[] => [
  ...new Set(catalog.groupVersions().flatMap(({ group }) => (group === '' ? [] : [group]))),
]

function groupOf(catalog: Catalog, group: string): Document {
  const versions = catalog
    .groupVersions()
    .filter((candidate) => candidate.group === group)
    .map(({ version }) => ({ groupVersion: `${group}/${version}`, version }))
  return { name: group, versions, preferredVersion: versions[0] }
}

interface Description {
  readonly name: string
}

/** A resource and its subresources, each a line of the document. */
function describe(identity: Identity, resource: Resource): Description[] {
  const { definition } = resource
  const common = { singularName: '', namespaced: resource.namespaced, kind: resource.kind }
  const main = {
    name: resource.name,
    ...common,
    verbs: resource.verbs,
    ...(definition.shortNames === undefined ? {} : { shortNames: definition.shortNames }),
    ...(definition.categories === undefined ? {} : { categories: definition.categories }),
    ...(isKept(resource) ? { storageVersionHash: storageVersionHash(resource) } : {}),
  }
  return [main, ...(definition.subresources ?? []).map((subresource) => describeSubresource(identity, resource, subresource))]
}

/** A subresource whose body is of another kind names that kind, with its group version where it is not the resource's own. */
function describeSubresource(identity: Identity, resource: Resource, subresource: SubresourceDefinition): Description {
  const other = subresource.view ?? subresource.body
  const group = other?.group === undefined ? undefined : identity.group(other.group)
  return {
    name: `${resource.name}/${subresource.name}`,
    singularName: '',
    namespaced: resource.namespaced,
    ...(group === undefined ? {} : { group, version: other?.version }),
    kind: other?.kind ?? resource.kind,
    verbs: subresource.verbs,
  } as Description
}

/** What is kept can be watched; the rest is only asked. */
const isKept = ({ verbs }: Resource): boolean => verbs.includes('watch')

/** Tells whether two paths lead to the same stored objects: group, version and kind as they are stored. */
function storageVersionHash({ storedApiVersion, kind }: Resource): string {
  const stored = storedApiVersion.includes('/') ? storedApiVersion : `/${storedApiVersion}`
  return createHash('sha256').update(`${stored}/${kind}`).digest().subarray(0, 8).toString('base64')
}
