// Every path that the server publishes: those of its resources, the documents of discovery, and a few of its own.

import type { Catalog, Resource } from '../../api/catalog.js'
import * as meta from '../../api/meta.schema.js'
import { compareText } from '../../base/text-order.js'
import * as s from '../../schema/node.js'
import { json } from './media-types.js'
import { groupInId, groupStem, groupTag, versionInId, versionTag } from './operation-ids.js'
import { logInPath } from './parameters.js'
import type { Publisher } from './publisher.js'
import { resourceRoutes } from './resource-routes.js'
import type { Operation, Route } from './route.js'

/** Groups of which version 3 has no documents; clients of this release do not expect any. */
const onlyInVersion2: ReadonlySet<string> = new Set(['apiregistration'])

export function allRoutes(catalog: Catalog, publisher: Publisher): readonly Route[] {
  const routes = [
    ...discoveryRoutes(catalog, publisher),
    ...catalog.all().flatMap((resource) => {
      const document = versionDocument(resource)
      const isPublished = !onlyInVersion2.has(groupStem(resource))
      return resourceRoutes({ publisher, resource, root: `/${document}`, document: isPublished ? document : undefined })
    }),
    ...ownRoutes,
  ]
  return routes.sort((a, b) => compareText(a.path, b.path))
}

const versionDocument = ({ group, version }: Resource): string => (group === '' ? `api/${version}` : `apis/${group}/${version}`)

type ReadingDraft = Pick<Operation, 'id' | 'tag' | 'description' | 'produces'> & Partial<Pick<Operation, 'parameters' | 'answers'>>

const reading = (path: string, document: string | undefined, { parameters = [], answers = {}, ...draft }: ReadingDraft): Route => ({
  path,
  document,
  operations: [{ method: 'get', ...draft, parameters, answers }],
})

function discoveryRoutes(catalog: Catalog, publisher: Publisher): readonly Route[] {
  const { object } = publisher.mediaTypes
  const groups = new Map<string, Route>()
  const versions = new Map<string, Route>()
  for (const resource of catalog.all()) {
    const stem = groupStem(resource)
    const isPublished = !onlyInVersion2.has(stem)
    const group = resource.group === '' ? 'api' : `apis/${resource.group}`
    groups.set(
      group,
      reading(`/${group}/`, isPublished ? group : undefined, {
        id: `get${groupInId(stem)}API${group === 'api' ? 'Versions' : 'Group'}`,
        tag: groupTag(stem),
        description: `Reads which versions the group ${stem} has.`,
        answers: { 200: group === 'api' ? meta.apiVersions : meta.apiGroup },
        produces: object,
      }),
    )
    const version = versionDocument(resource)
    versions.set(
      version,
      reading(`/${version}/`, isPublished ? version : undefined, {
        id: `get${versionInId(stem, resource.version)}APIResources`,
        tag: versionTag(stem, resource.version),
        description: `Reads which resources ${resource.apiVersion} has.`,
        answers: { 200: meta.apiResourceList },
        produces: object,
      }),
    )
  }
  return [groupList(object), ...groups.values(), ...versions.values()]
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
