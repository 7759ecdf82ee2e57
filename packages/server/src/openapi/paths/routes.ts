// All published routes: resources, discovery, and the server's own paths.

import type { Catalog } from '@cluster-apiserver/api/api/catalog/catalog.js'
import type { GroupVersion, Resource, ServedGroup, ServedVersion } from '@cluster-apiserver/api/api/catalog/resource.js'
import * as meta from '@cluster-apiserver/api/api/meta.schema.js'
import { compareText } from '@cluster-apiserver/api/base/text-order.js'
import * as s from '@cluster-apiserver/api/schema/node.js'
import type { JsonSchema } from '@cluster-apiserver/api/schema/openapi/openapi.js'
import { isCustom, json, type Publisher } from '../published-types.js'
import { groupInId, groupStem, groupTag, type PublishedResource, versionInId, versionTag } from './operations.js'
import { logInPath } from './parameters.js'
import { resourceRoutes } from './resource-routes.js'
import type { Operation, Route } from './route.js'

/** Groups without a v3 document, as in kube-apiserver 1.26. */
const onlyInV2: ReadonlySet<string> = new Set(['apiregistration'])

/** Routes that are rendered together, created on demand. */
export interface RouteSource {
  /** Cache key: another value if the routes may have changed. */
  readonly cacheKey: object
  readonly document: string | undefined
  /** The type of a custom kind and its schema from the CRD. */
  readonly crdSchema?: readonly [node: s.StructNode, schema: JsonSchema]
  readonly routes: () => readonly Route[]
}

/** Sorted, so that all replicas publish the same documents. */
export function routeSources(catalog: Catalog, publisher: Publisher): readonly RouteSource[] {
  const sources: RouteSource[] = []
  for (const group of [...catalog.groups().values()].sort((a, b) => compareText(a.name, b.name))) {
    if (![...group.versions.values()].every(isAllCustom)) sources.push(groupSource(publisher, group))
    for (const served of [...group.versions.values()].sort((a, b) => compareText(a.version, b.version)))
      sources.push(...versionSources(publisher, served))
  }
  return [...sources, ...serverSources(publisher)]
}

const byPath = (routes: readonly Route[]): readonly Route[] => [...routes].sort((a, b) => compareText(a.path, b.path))

const groupPath = ({ name }: ServedGroup): string => (name === '' ? 'api' : `apis/${name}`)
const versionPath = ({ group, version }: GroupVersion): string => (group === '' ? `api/${version}` : `apis/${group}/${version}`)

type GetDraft = Pick<Operation, 'id' | 'tag' | 'description' | 'produces'> & Partial<Pick<Operation, 'parameters' | 'responses'>>

const getRoute = (path: string, document: string | undefined, { parameters = [], responses = {}, ...draft }: GetDraft): Route => ({
  path,
  document,
  operations: [{ method: 'get', ...draft, parameters, responses }],
})

const v3Document = (stem: string, document: string): string | undefined => (onlyInV2.has(stem) ? undefined : document)

const stemOf = ({ resources }: ServedVersion): string => groupStem([...resources.values()][0] as Resource)

/** True if the version has only custom kinds. Groups of such versions publish no discovery path. */
const isAllCustom = ({ resources }: ServedVersion): boolean => [...resources.values()].every(isCustom)

function groupSource(publisher: Publisher, group: ServedGroup): RouteSource {
  const stem = stemOf([...group.versions.values()][0] as ServedVersion)
  const document = v3Document(stem, groupPath(group))
  const isCore = group.name === ''
  const route = (): Route =>
    getRoute(`/${groupPath(group)}/`, document, {
      id: `get${groupInId(stem)}API${isCore ? 'Versions' : 'Group'}`,
      tag: groupTag(stem),
      description: `Lists the versions of the group ${stem}.`,
      responses: { 200: isCore ? meta.apiVersions : meta.apiGroup },
      produces: publisher.mediaTypes.object,
    })
  return { cacheKey: group, document, routes: () => [route()] }
}

/** Custom kinds are separate sources, because they change one by one. */
function versionSources(publisher: Publisher, served: ServedVersion): readonly RouteSource[] {
  const stem = stemOf(served)
  const root = `/${versionPath(served)}`
  const document = v3Document(stem, versionPath(served))
  const list = (): Route =>
    getRoute(`${root}/`, document, {
      id: `get${versionInId(stem, served.version)}APIResources`,
      tag: versionTag(stem, served.version),
      description: `Lists the resources of ${served.group === '' ? '' : `${served.group}/`}${served.version}.`,
      responses: { 200: meta.apiResourceList },
      produces: publisher.mediaTypes.object,
    })
  const resources = [...served.resources.values()]
  const builtIn = resources.filter((resource) => !isCustom(resource))
  const routes = (): readonly Route[] =>
    byPath([list(), ...builtIn.flatMap((resource) => resourceRoutes({ publisher, resource, root, document }))])
  const custom = resources.filter(isCustom).sort((a, b) => compareText(a.name, b.name))
  return [
    ...(builtIn.length > 0 ? [{ cacheKey: served, document, routes }] : []),
    ...custom.map((resource) => customSource(publisher, resource, { root, document })),
  ]
}

const customSource = (publisher: Publisher, resource: Resource, location: Pick<PublishedResource, 'root' | 'document'>): RouteSource => {
  const schema = resource.definition.versions.find(({ name }) => name === resource.version)?.published
  return {
    cacheKey: resource,
    document: location.document,
    ...(schema === undefined ? {} : { crdSchema: [publisher.schemaOf(resource), schema] as const }),
    routes: () => byPath(resourceRoutes({ publisher, resource, ...location })),
  }
}

function serverSources(publisher: Publisher): readonly RouteSource[] {
  const routes = [groupList(publisher.mediaTypes.object), ...serverRoutes]
  return [...new Set(routes.map(({ document }) => document))].map((document) => ({
    cacheKey: serverRoutes,
    document,
    routes: () => routes.filter((route) => route.document === document),
  }))
}

const groupList = (produces: readonly string[]): Route =>
  getRoute('/apis/', 'apis', {
    id: 'getAPIVersions',
    tag: 'apis',
    description: 'Lists the API groups.',
    responses: { 200: meta.apiGroupList },
    produces,
  })

const serverRoutes: readonly Route[] = [
  getRoute('/version/', 'version', {
    id: 'getCodeVersion',
    tag: 'version',
    description: 'Returns the API release.',
    responses: { 200: meta.info },
    produces: [json],
  }),
  getRoute('/.well-known/openid-configuration/', undefined, {
    id: 'getServiceAccountIssuerOpenIDConfiguration',
    tag: 'WellKnown',
    description: 'Returns the OpenID configuration of the service account issuer.',
    responses: { 200: s.string },
    produces: [json],
  }),
  getRoute('/openid/v1/jwks/', 'openid/v1/jwks', {
    id: 'getServiceAccountIssuerOpenIDKeyset',
    tag: 'openid',
    description: 'Returns the public keys of the service account issuer (JWKS).',
    responses: { 200: s.string },
    produces: ['application/jwk-set+json'],
  }),
  getRoute('/logs/', 'logs', { id: 'logFileListHandler', tag: 'logs', description: 'Lists the log files.', produces: [] }),
  getRoute('/logs/{logpath}', 'logs', {
    id: 'logFileHandler',
    tag: 'logs',
    description: 'Reads a log file.',
    parameters: [logInPath],
    produces: [],
  }),
]
