// Every path that the server publishes: those of its resources, the documents of discovery, and a few of its own.

import type { Catalog, GroupVersion, Resource, ServedGroup, ServedVersion } from '../../api/catalog.js'
import * as meta from '../../api/meta.schema.js'
import { atOnce } from '../../base/pieces.js'
import { compareText } from '../../base/text-order.js'
import * as s from '../../schema/node.js'
import type { JsonSchema } from '../../schema/openapi.js'
import { json } from './media-types.js'
import { groupInId, groupStem, groupTag, versionInId, versionTag } from './operation-ids.js'
import type { Subject } from './operations.js'
import { logInPath } from './parameters.js'
import { isCustom, type Publisher } from './publisher.js'
import { resourceRoutes } from './resource-routes.js'
import type { Operation, Route } from './route.js'

/** Groups of which version 3 has no documents; clients of this release do not expect any. */
const onlyInVersion2: ReadonlySet<string> = new Set(['apiregistration'])

/** Paths that are rendered together, all of one document of version 3; made anew each time, for they are many and seldom wanted. */
export interface RouteSource {
  /** What the paths follow from: another value when they may be others. */
  readonly of: object
  /** Undefined where only version 2 publishes them. */
  readonly document: string | undefined
  /** The type of a custom kind, and the schema that its author wrote for it. */
  readonly written?: readonly [node: s.StructNode, schema: JsonSchema]
  readonly routes: () => readonly Route[]
  /** The same, giving way where it yields: there may be hundreds of kinds. */
  readonly steps: RouteSteps
}

export type RouteSteps = () => Generator<undefined, readonly Route[], void>

/** What is short is one step. */
const atOneStep = (routes: () => readonly Route[]): Pick<RouteSource, 'routes' | 'steps'> => ({
  routes,
  // biome-ignore lint/correctness/useYield: it is at once
  steps: function* () {
    return routes()
  },
})

/** In an order that does not depend on when something came: each server of a cluster has the same documents. Yields after each of them. */
export function* routeSources(catalog: Catalog, publisher: Publisher): Generator<undefined, readonly RouteSource[], void> {
  const sources: RouteSource[] = []
  for (const group of [...catalog.groups().values()].sort((a, b) => compareText(a.name, b.name))) {
    if (![...group.versions.values()].every(isAllCustom)) sources.push(groupSource(publisher, group))
    for (const served of [...group.versions.values()].sort((a, b) => compareText(a.version, b.version)))
      for (const source of versionSources(publisher, served)) {
        sources.push(source)
        yield
      }
  }
  return [...sources, ...ownSources(publisher)]
}

export const inOrder = (routes: readonly Route[]): readonly Route[] => [...routes].sort((a, b) => compareText(a.path, b.path))

const groupPath = ({ name }: ServedGroup): string => (name === '' ? 'api' : `apis/${name}`)
const versionPath = ({ group, version }: GroupVersion): string => (group === '' ? `api/${version}` : `apis/${group}/${version}`)

type ReadingDraft = Pick<Operation, 'id' | 'tag' | 'description' | 'produces'> & Partial<Pick<Operation, 'parameters' | 'answers'>>

const reading = (path: string, document: string | undefined, { parameters = [], answers = {}, ...draft }: ReadingDraft): Route => ({
  path,
  document,
  operations: [{ method: 'get', ...draft, parameters, answers }],
})

const published = (stem: string, document: string): string | undefined => (onlyInVersion2.has(stem) ? undefined : document)

const stemOf = ({ resources }: ServedVersion): string => groupStem([...resources.values()][0] as Resource)

/** Of groups of custom kinds the documents of discovery are not told of. */
const isAllCustom = ({ resources }: ServedVersion): boolean => [...resources.values()].every(isCustom)

function groupSource(publisher: Publisher, group: ServedGroup): RouteSource {
  const stem = stemOf([...group.versions.values()][0] as ServedVersion)
  const document = published(stem, groupPath(group))
  const isCore = group.name === ''
  const route = (): Route =>
    reading(`/${groupPath(group)}/`, document, {
      id: `get${groupInId(stem)}API${isCore ? 'Versions' : 'Group'}`,
      tag: groupTag(stem),
      description: `Reads which versions the group ${stem} has.`,
      answers: { 200: isCore ? meta.apiVersions : meta.apiGroup },
      produces: publisher.mediaTypes.object,
    })
  return { of: group, document, ...atOneStep(() => [route()]) }
}

/** Custom kinds are sources of their own: they change one by one, and there may be many of them in a version. */
function* versionSources(publisher: Publisher, served: ServedVersion): Generator<RouteSource, void, void> {
  const stem = stemOf(served)
  const root = `/${versionPath(served)}`
  const document = published(stem, versionPath(served))
  const list = (): Route =>
    reading(`${root}/`, document, {
      id: `get${versionInId(stem, served.version)}APIResources`,
      tag: versionTag(stem, served.version),
      description: `Reads which resources ${served.group === '' ? '' : `${served.group}/`}${served.version} has.`,
      answers: { 200: meta.apiResourceList },
      produces: publisher.mediaTypes.object,
    })
  const resources = [...served.resources.values()]
  const own = resources.filter((resource) => !isCustom(resource))
  const steps: RouteSteps = function* () {
    const routes = [list()]
    for (const resource of own) {
      routes.push(...resourceRoutes({ publisher, resource, root, document }))
      yield
    }
    return inOrder(routes)
  }
  const custom = resources.filter(isCustom).sort((a, b) => compareText(a.name, b.name))
  if (own.length > 0) yield { of: served, document, routes: () => atOnce(steps()), steps }
  for (const resource of custom) yield customSource(publisher, resource, { root, document })
}

const customSource = (publisher: Publisher, resource: Resource, place: Pick<Subject, 'root' | 'document'>): RouteSource => {
  const schema = resource.definition.versions.find(({ name }) => name === resource.version)?.published
  return {
    of: resource,
    document: place.document,
    ...(schema === undefined ? {} : { written: [publisher.schemaOf(resource), schema] as const }),
    ...atOneStep(() => inOrder(resourceRoutes({ publisher, resource, ...place }))),
  }
}

/** What is there whatever is served. */
function ownSources(publisher: Publisher): readonly RouteSource[] {
  const routes = [groupList(publisher.mediaTypes.object), ...ownRoutes]
  return [...new Set(routes.map(({ document }) => document))].map((document) => ({
    of: ownRoutes,
    document,
    ...atOneStep(() => routes.filter((route) => route.document === document)),
  }))
}

const groupList = (produces: readonly string[]): Route =>
  reading('/apis/', 'apis', {
    id: 'getAPIVersions',
    tag: 'apis',
    description: 'Reads which groups there are.',
    answers: { 200: meta.apiGroupList },
    produces,
  })

const ownRoutes: readonly Route[] = [
  reading('/version/', 'version', {
    id: 'getCodeVersion',
    tag: 'version',
    description: 'Reads which release of the API this is.',
    answers: { 200: meta.info },
    produces: [json],
  }),
  reading('/.well-known/openid-configuration/', undefined, {
    id: 'getServiceAccountIssuerOpenIDConfiguration',
    tag: 'WellKnown',
    description: 'Reads who issues the tokens of service accounts, and where its keys are.',
    answers: { 200: s.string },
    produces: [json],
  }),
  reading('/openid/v1/jwks/', 'openid/v1/jwks', {
    id: 'getServiceAccountIssuerOpenIDKeyset',
    tag: 'openid',
    description: 'Reads the public keys with which tokens of service accounts are checked.',
    answers: { 200: s.string },
    produces: ['application/jwk-set+json'],
  }),
  reading('/logs/', 'logs', { id: 'logFileListHandler', tag: 'logs', description: 'Lists the log files.', produces: [] }),
  reading('/logs/{logpath}', 'logs', {
    id: 'logFileHandler',
    tag: 'logs',
    description: 'Reads a log file.',
    parameters: [logInPath],
    produces: [],
  }),
]
