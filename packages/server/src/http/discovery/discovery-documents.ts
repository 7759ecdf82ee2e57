// The discovery documents APIVersions, APIGroupList, APIGroup and APIResourceList, each built once per catalog.

import { createHash } from 'node:crypto'
import type { ApiServices } from '@cluster-apiserver/api/api/catalog/api-services.js'
import type { Catalog } from '@cluster-apiserver/api/api/catalog/catalog.js'
import type { GroupVersion, Resource, ServedVersion, Subresource } from '@cluster-apiserver/api/api/catalog/resource.js'
import { getOrInsert, weakMemoize } from '@cluster-apiserver/api/base/recent-map.js'
import { compareText } from '@cluster-apiserver/api/base/text-order.js'
import { type DiscoverableGroup, discoverableGroups } from './discoverable-groups.js'

export type Document = { readonly [key: string]: unknown }

export const versionsDocument = (catalog: Catalog, serverAddress: string): Document =>
  getOrInsert(versionsByAddress(catalog), serverAddress, () => ({
    kind: 'APIVersions',
    versions: [...(catalog.groups().get('')?.versions.keys() ?? [])],
    serverAddressByClientCIDRs: [{ clientCIDR: '0.0.0.0/0', serverAddress }],
  }))

const versionsByAddress = weakMemoize((_catalog: Catalog) => new Map<string, Document>())

export const groupListDocument = (catalog: Catalog, services: ApiServices): Document =>
  documentOfGroups(discoverableGroups(catalog, services))

const documentOfGroups = weakMemoize(
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

const documentOfGroup = weakMemoize(
  (group: DiscoverableGroup): Document => ({ kind: 'APIGroup', apiVersion: 'v1', ...describeGroup(group) }),
)

function describeGroup({ name, versions: served }: DiscoverableGroup): Document {
  const versions = Array.from(served, ({ version }) => ({ groupVersion: `${name}/${version}`, version }))
  return { name, versions, preferredVersion: versions[0] }
}

export function resourceListDocument(catalog: Catalog, { group, version }: GroupVersion): Document | undefined {
  const served = catalog.groups().get(group)?.versions.get(version)
  return served && documentOfVersion(served)
}

const documentOfVersion = weakMemoize(
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

function describe(resource: Resource): Description[] {
  const { definition } = resource
  const common = { singularName: definition.custom?.singular ?? '', namespaced: resource.namespaced, kind: resource.kind }
  const main = {
    name: resource.name,
    ...common,
    verbs: resource.verbs,
    ...(definition.shortNames === undefined ? {} : { shortNames: definition.shortNames }),
    ...(definition.categories === undefined ? {} : { categories: definition.categories }),
    ...(isStored(resource) ? { storageVersionHash: storageVersionHash(resource) } : {}),
  }
  return [main, ...Array.from(resource.subresources.values(), (subresource) => describeSubresource(resource, subresource))]
}

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

/** Kinds that can be watched are stored; others, such as reviews, have no storage version. */
const isStored = ({ verbs }: Resource): boolean => verbs.includes('watch')

/** Hash of the stored group, version and kind: equal for resources that share stored objects, such as both kinds of events. */
function storageVersionHash({ hashedApiVersion, kind }: Resource): string {
  const stored = hashedApiVersion.includes('/') ? hashedApiVersion : `/${hashedApiVersion}`
  return createHash('sha256').update(`${stored}/${kind}`).digest().subarray(0, 8).toString('base64')
}
