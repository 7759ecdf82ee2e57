// What a server serves: groups, versions, resources; read in one request where the server can, and kept.

import { type IdentityName, identityNames, identityOf } from '../api/identity.js'
import type { APIGroupList, APIResourceList, APIVersions } from '../api/meta.schema.js'
import { inParallel } from '../base/in-parallel.js'
import { refuseUnknownOptions } from '../base/known-options.js'
import { StatusError } from './errors.js'
import { aggregatedDiscoveryAccept } from './media-types.js'
import { discoveryNames } from './option-names.js'
import type { RequestOptions } from './query.js'
import type { Requester } from './requester.js'
import { apiVersionOf, type ResourceRef, splitApiVersion } from './resource-ref.js'
import { checkShape, type Shape } from './shape.js'

export interface ServedResource extends ResourceRef {
  readonly group: string
  readonly singular: string
  readonly verbs: readonly string[]
  readonly shortNames: readonly string[]
  readonly categories: readonly string[]
  /** The version that the server would rather be asked for. */
  readonly isPreferred: boolean
  /** Their names, such as `status`. */
  readonly subresources: readonly ServedSubresource[]
}

export interface ServedSubresource {
  readonly name: string
  readonly kind: string
  readonly verbs: readonly string[]
}

/** Group versions that could not be read: their server does not answer. */
export interface DiscoveryFailure {
  readonly apiVersion: string
  readonly error: unknown
}

export interface Discovered {
  readonly resources: readonly ServedResource[]
  /** In the server's order, the preferred version of a group first. */
  readonly apiVersions: readonly string[]
  readonly failures: readonly DiscoveryFailure[]
}

export class Discovery {
  private readonly requester: Requester
  private known: Promise<Discovered> | undefined

  constructor(requester: Requester) {
    this.requester = requester
  }

  /** All that is served, as it was when first asked for; `refresh` asks again. */
  async all(options: RequestOptions & { readonly refresh?: boolean } = {}): Promise<Discovered> {
    refuseUnknownOptions('all', options, discoveryNames)
    return this.read(options)
  }

  private read(options: RequestOptions & { readonly refresh?: boolean }): Promise<Discovered> {
    if (this.known === undefined || options.refresh === true) {
      // It is for all who ask: nobody's signal and time end it.
      const reading = readAll(this.requester, {})
      this.known = reading
      reading.catch(() => {
        if (this.known === reading) this.known = undefined
      })
    }
    return this.requester.shared(this.known, options)
  }

  async resources(options: RequestOptions = {}): Promise<readonly ServedResource[]> {
    return (await this.all(options)).resources
  }

  /** Which vocabulary the server speaks; the neutral one where nothing tells. */
  async identity(options: RequestOptions = {}): Promise<IdentityName> {
    const { apiVersions } = await this.read(options)
    const suffixed = (name: IdentityName): boolean =>
      apiVersions.some((apiVersion) => splitApiVersion(apiVersion).group.endsWith(`.${identityOf(name).groupSuffix}`))
    return identityNames.find(suffixed) ?? 'cluster'
  }

  /** The resource of a kind. */
  async ofKind(apiVersion: string, kind: string, options: RequestOptions = {}): Promise<ServedResource | undefined> {
    const { group, version } = splitApiVersion(apiVersion)
    const isIt = (one: ServedResource): boolean => one.group === group && one.version === version && one.kind === kind
    return this.search((resources) => resources.find(isIt), options)
  }

  /**
   * What people type: a plural, singular, short name or kind, with a group and a version where that is not enough: `deploy`,
   * `deployments.apps`, `deployments.v1.apps`.
   */
  async find(words: string, options: RequestOptions = {}): Promise<ServedResource | undefined> {
    return this.search((resources) => findByWords(resources, words), options)
  }

  /** A kind that was defined a moment ago is not known yet: what is not found is looked for once more. */
  private async search(
    find: (resources: readonly ServedResource[]) => ServedResource | undefined,
    options: RequestOptions,
  ): Promise<ServedResource | undefined> {
    const hadBefore = this.known !== undefined
    const found = find(await this.resources(options))
    if (found !== undefined || !hadBefore) return found
    return find((await this.all({ ...options, refresh: true })).resources)
  }
}

export function findByWords(resources: readonly ServedResource[], words: string): ServedResource | undefined {
  const [name = '', ...rest] = words.toLowerCase().split('.')
  const suffix = rest.join('.')
  const isPlace = ({ group, version }: ServedResource): boolean =>
    suffix === '' || group === suffix || group.startsWith(`${suffix}.`) || (rest[0] === version && group === rest.slice(1).join('.'))
  const candidates = resources.filter(isPlace)
  const byName = (matches: (resource: ServedResource) => boolean): ServedResource | undefined => {
    const found = candidates.filter(matches)
    return found.find(({ isPreferred }) => isPreferred) ?? found[0]
  }
  return (
    byName(({ resource }) => resource === name) ??
    byName(({ singular, kind }) => singular === name || kind.toLowerCase() === name) ??
    byName(({ shortNames }) => shortNames.includes(name))
  )
}

/** As the aggregated document has it. Servers write null for a list without items. */
interface GroupDiscovery {
  readonly metadata?: { readonly name?: string } | null
  readonly versions?:
    | readonly {
        readonly version?: string | null
        readonly freshness?: string | null
        readonly resources?: readonly ResourceDiscovery[] | null
      }[]
    | null
}

interface ResourceDiscovery {
  readonly resource?: string | null
  readonly responseKind?: { readonly kind?: string | null } | null
  readonly scope?: string | null
  readonly singularResource?: string | null
  readonly verbs?: readonly string[] | null
  readonly shortNames?: readonly string[] | null
  readonly categories?: readonly string[] | null
  readonly subresources?:
    | readonly {
        readonly subresource?: string | null
        readonly responseKind?: { readonly kind?: string | null } | null
        readonly verbs?: readonly string[] | null
      }[]
    | null
}

type Document = { readonly kind?: string; readonly items?: readonly GroupDiscovery[] | null }

const documentShape: Shape = {
  kind: 'text',
  items: [
    {
      metadata: { name: 'text' },
      versions: [
        {
          version: 'text',
          freshness: 'text',
          resources: [
            {
              resource: 'text',
              responseKind: { kind: 'text' },
              scope: 'text',
              singularResource: 'text',
              verbs: ['text'],
              shortNames: ['text'],
              categories: ['text'],
              subresources: [{ subresource: 'text', responseKind: { kind: 'text' }, verbs: ['text'] }],
            },
          ],
        },
      ],
    },
  ],
  versions: ['text'],
  groups: [{ name: 'text', versions: [{ version: 'text' }], preferredVersion: { version: 'text' } }],
}

const resourcesShape: Shape = {
  resources: [
    {
      name: 'text',
      kind: 'text',
      namespaced: 'flag',
      singularName: 'text',
      verbs: ['text'],
      shortNames: ['text'],
      categories: ['text'],
    },
  ],
}

async function readAll(requester: Requester, options: RequestOptions): Promise<Discovered> {
  const ask = { ...options, accept: aggregatedDiscoveryAccept }
  const [core, groups] = await Promise.all([
    requester.json<Document & APIVersions>({ ...ask, path: '/api' }),
    requester.json<Document & APIGroupList>({ ...ask, path: '/apis' }),
  ])
  checkShape(core, documentShape, '/api')
  checkShape(groups, documentShape, '/apis')
  if (core.kind === 'APIGroupDiscoveryList' && groups.kind === 'APIGroupDiscoveryList') {
    return fromAggregated([...(core.items ?? []), ...(groups.items ?? [])])
  }
  return fromSingle(requester, options, { core, groups })
}

function fromAggregated(groups: readonly GroupDiscovery[]): Discovered {
  const resources: ServedResource[] = []
  const apiVersions: string[] = []
  const failures: DiscoveryFailure[] = []
  for (const { metadata, versions } of groups) {
    const group = metadata?.name ?? ''
    for (const [index, { version: named, resources: served, freshness }] of (versions ?? []).entries()) {
      const version = named ?? ''
      const apiVersion = apiVersionOf(group, version)
      apiVersions.push(apiVersion)
      if (freshness === 'Stale')
        failures.push({ apiVersion, error: new Error('what it serves may have changed: its server does not answer') })
      for (const one of served ?? []) {
        resources.push({
          group,
          version,
          resource: one.resource ?? '',
          kind: one.responseKind?.kind ?? '',
          namespaced: one.scope === 'Namespaced',
          singular: one.singularResource ?? '',
          verbs: one.verbs ?? [],
          shortNames: one.shortNames ?? [],
          categories: one.categories ?? [],
          isPreferred: index === 0,
          subresources: (one.subresources ?? []).map(({ subresource, responseKind, verbs }) => ({
            name: subresource ?? '',
            kind: responseKind?.kind ?? '',
            verbs: verbs ?? [],
          })),
        })
      }
    }
  }
  return { resources, apiVersions, failures }
}

/** Servers of old are asked version by version. */
async function fromSingle(
  requester: Requester,
  options: RequestOptions,
  { core, groups }: { readonly core: APIVersions; readonly groups: APIGroupList },
): Promise<Discovered> {
  const places = [
    ...(core.versions ?? []).map((version) => ({ group: '', version, isPreferred: true })),
    ...(groups.groups ?? []).flatMap(({ name, versions, preferredVersion }) =>
      (versions ?? []).map(({ version }) => ({
        group: name ?? '',
        version: version ?? '',
        isPreferred: version === preferredVersion?.version,
      })),
    ),
  ]
  const lists = new Map<(typeof places)[number], readonly ServedResource[]>()
  const failures: DiscoveryFailure[] = []
  await inParallel(places, 8, async (place) => {
    const apiVersion = apiVersionOf(place.group, place.version)
    try {
      const path = place.group === '' ? `/api/${place.version}` : `/apis/${apiVersion}`
      const list = await requester.json<APIResourceList>({ ...options, path })
      checkShape(list, resourcesShape, path)
      lists.set(place, readResources(place, list))
    } catch (error) {
      if (!(error instanceof StatusError)) throw error
      failures.push({ apiVersion, error })
    }
  })
  return {
    resources: places.flatMap((place) => lists.get(place) ?? []),
    apiVersions: places.map(({ group, version }) => apiVersionOf(group, version)),
    failures,
  }
}

function readResources(place: Pick<ServedResource, 'group' | 'version' | 'isPreferred'>, list: APIResourceList): readonly ServedResource[] {
  const resources = list.resources ?? []
  const subresources = new Map<string, ServedSubresource[]>()
  for (const { name, kind, verbs } of resources) {
    const [resource = '', subresource] = (name ?? '').split('/', 2)
    if (subresource !== undefined) {
      const known = subresources.get(resource) ?? []
      known.push({ name: subresource, kind: kind ?? '', verbs: verbs ?? [] })
      subresources.set(resource, known)
    }
  }
  return resources
    .filter(({ name }) => !(name ?? '').includes('/'))
    .map(({ name, kind, namespaced, singularName, verbs, shortNames, categories }) => ({
      ...place,
      resource: name ?? '',
      kind: kind ?? '',
      namespaced: namespaced ?? false,
      singular: singularName ?? '',
      verbs: verbs ?? [],
      shortNames: shortNames ?? [],
      categories: categories ?? [],
      subresources: subresources.get(name ?? '') ?? [],
    }))
}
