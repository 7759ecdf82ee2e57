// Which groups, versions and resources there are, in the documents with which clients begin. Each is made once, and again only when what it
// tells of has changed: that is another value then.

import { createHash } from 'node:crypto'
import type { ApiServices } from '../api/api-services.js'
import type { Catalog, GroupVersion, Resource, ServedVersion, Subresource } from '../api/catalog.js'
import { getOrInsert } from '../base/get-or-insert.js'
import { onceFor } from '../base/once-for.js'
import { compareText } from '../base/text-order.js'
import { type DiscoverableGroup, discoverableGroups } from './discoverable-groups.js'

export type Document = { readonly [key: string]: unknown }

export const versionsDocument = (catalog: Catalog, serverAddress: string): Document =>
  getOrInsert(versionsByAddress(catalog), serverAddress, () => ({
    kind: 'APIVersions',
    versions: [...(catalog.groups().get('')?.versions.keys() ?? [])],
    serverAddressByClientCIDRs: [{ clientCIDR: '0.0.0.0/0', serverAddress }],
  }))

/** A server has one address once it listens. */
const versionsByAddress = onceFor((_catalog: Catalog) => new Map<string, Document>())

export const groupListDocument = (catalog: Catalog, services: ApiServices): Document =>
  documentOfGroups(discoverableGroups(catalog, services))

const documentOfGroups = onceFor(
  (groups: ReadonlyMap<string, DiscoverableGroup>): Document => ({
    kind: 'APIGroupList',
    apiVersion: 'v1',
    groups: [...groups.values()].filter(({ name }) => name !== '').map(describeGroup),
  }),
)

export function groupDocument(catalog: Catalog, services: ApiServices, name: string): Document | undefined {
  const group = name === '' ? undefined : discoverableGroups(catalog, services).get(name)
  return group && documentOfGroup(group)
}

const documentOfGroup = onceFor((group: DiscoverableGroup): Document => ({ kind: 'APIGroup', apiVersion: 'v1', ...describeGroup(group) }))

function describeGroup({ name, versions: served }: DiscoverableGroup): Document {
  const versions = Array.from(served, ({ version }) => ({ groupVersion: `${name}/${version}`, version }))
  return { name, versions, preferredVersion: versions[0] }
}

export function resourceListDocument(catalog: Catalog, { group, version }: GroupVersion): Document | undefined {
  const served = catalog.groups().get(group)?.versions.get(version)
  return served && documentOfVersion(served)
}

const documentOfVersion = onceFor(
  ({ group, version, resources }: ServedVersion): Document => ({
    kind: 'APIResourceList',
    ...(group === '' ? {} : { apiVersion: 'v1' }),
    groupVersion: group === '' ? version : `${group}/${version}`,
    resources: [...resources.values()].flatMap(describe).sort((a, b) => compareText(a.name, b.name)),
  }),
)

interface Description {
  readonly name: string
}

/** A resource and its subresources, each a line of the document. */
function describe(resource: Resource): Description[] {
  const { definition } = resource
  const common = { singularName: definition.custom?.singular ?? '', namespaced: resource.namespaced, kind: resource.kind }
  const main = {
    name: resource.name,
    ...common,
    verbs: resource.verbs,
    ...(definition.shortNames === undefined ? {} : { shortNames: definition.shortNames }),
    ...(definition.categories === undefined ? {} : { categories: definition.categories }),
    ...(isKept(resource) ? { storageVersionHash: storageVersionHash(resource) } : {}),
  }
  return [main, ...Array.from(resource.subresources.values(), (subresource) => describeSubresource(resource, subresource))]
}

/** A subresource whose body is of another kind names that kind, with its group version where it is not the resource's own. */
function describeSubresource(resource: Resource, { name, verbs, type, view, body }: Subresource): Description {
  const { group, version, kind } = type
  return {
    name: `${resource.name}/${name}`,
    singularName: '',
    namespaced: resource.namespaced,
    ...((view ?? body)?.group === undefined ? {} : { group, version }),
    kind,
    verbs,
  } as Description
}

/** What is kept can be watched; the rest is only asked. */
const isKept = ({ verbs }: Resource): boolean => verbs.includes('watch')

/** Tells whether two paths lead to the same stored objects: group, version and kind as they are stored. */
function storageVersionHash({ hashedApiVersion, kind }: Resource): string {
  const stored = hashedApiVersion.includes('/') ? hashedApiVersion : `/${hashedApiVersion}`
  return createHash('sha256').update(`${stored}/${kind}`).digest().subarray(0, 8).toString('base64')
}
