// Which objects a command is about: `pod/a`, `pods a b`, `pods,services`, selectors, files.

import type { Collection } from '../client/collection.js'
import type { ServedResource } from '../client/discovery.js'
import type { ApiObject, DynamicObject } from '../client/objects.js'
import { definedKinds, inUsableOrder } from './definitions.js'
import { Failure } from './failure.js'
import { type FlagTable, UsageError } from './flags.js'
import type { Io } from './io.js'
import { originOf, readManifests } from './manifests.js'
import type { Session } from './session.js'

/** One object that was named. */
export interface Named {
  readonly resource: ServedResource
  readonly name: string
  readonly collection: Collection<DynamicObject>
  /** The file that named it. */
  readonly origin?: string
}

export interface Wanted {
  /** Those that were named. */
  readonly named: readonly Named[]
  /** Whole collections, where no names were given. */
  readonly collections: readonly { readonly resource: ServedResource; readonly collection: Collection<DynamicObject> }[]
}

export const fileFlags = {
  filename: { kind: 'list', short: 'f', help: 'files, folders or addresses with objects; - is standard input' },
  recursive: { kind: 'switch', short: 'R', help: 'folders in folders as well' },
  kustomize: { kind: 'text', short: 'k', help: 'refused: another program builds kustomizations, and "-f -" takes what it writes' },
} as const satisfies FlagTable

export const selectFlags = {
  selector: { kind: 'text', short: 'l', help: 'labels that objects must have: a=b,c in (d,e),!f' },
  'field-selector': { kind: 'text', help: 'fields that objects must have: metadata.name=a' },
  'all-namespaces': { kind: 'switch', short: 'A', help: 'in all namespaces' },
} as const satisfies FlagTable

export const chunkFlags = {
  'chunk-size': { kind: 'number', initial: '500', help: 'how many objects are asked for at a time; 0: all' },
} as const satisfies FlagTable

export interface Place {
  readonly session: Session
  readonly allNamespaces?: boolean
}

export const collectionIn = ({ session, allNamespaces = false }: Place, resource: ServedResource): Collection<DynamicObject> =>
  session.client.collection(resource, resource.namespaced && !allNamespaces ? session.namespace : undefined)

export async function wantedBy(args: readonly string[], place: Place): Promise<Wanted> {
  if (args.length === 0) return { named: [], collections: [] }
  const { resources } = place.session
  if (args.some((arg) => arg.includes('/'))) {
    const named = await Promise.all(
      args.map(async (arg) => {
        const [type = '', name = '', ...more] = arg.split('/')
        if (more.length > 0 || name === '' || type === '')
          throw new UsageError(`arguments in resource/name form must have a single resource and name: ${arg}`)
        const resource = await resources.find(type)
        return { resource, name, collection: collectionIn(place, resource) }
      }),
    )
    return { named, collections: [] }
  }
  const [types = '', ...names] = args
  const found = (
    await Promise.all(
      types
        .split(',')
        .filter(Boolean)
        .map((type) => resources.findAll(type)),
    )
  ).flat()
  if (names.length === 0)
    return { named: [], collections: found.map((resource) => ({ resource, collection: collectionIn(place, resource) })) }
  return {
    named: found.flatMap((resource) => names.map((name) => ({ resource, name, collection: collectionIn(place, resource) }))),
    collections: [],
  }
}

/** Exactly one object. */
export async function oneNamed(args: readonly string[], place: Place): Promise<Named> {
  const { named } = await wantedBy(args, place)
  const [first] = named
  if (first === undefined || named.length > 1) throw new UsageError('exactly one object must be named, as TYPE NAME or TYPE/NAME')
  return first
}

/** An object of a file, with the collection that it belongs to. */
export interface Filed extends Named {
  readonly object: DynamicObject
}

export interface FileFlags {
  readonly filename: readonly string[]
  readonly recursive: boolean
  /** Of what the files hold, only what has these labels there. */
  readonly selector?: string | undefined
}

export async function readFiled(
  flags: FileFlags,
  { session, io }: { readonly session: Session; readonly io: Io },
): Promise<readonly Filed[]> {
  const objects = await readManifests(flags, io)
  if (objects.length === 0) throw new Failure('no objects passed')
  const defined = definedKinds(objects)
  const selected = flags.selector === undefined ? objects : await withLabels(objects, flags.selector)
  return Promise.all(inUsableOrder(selected).map((object) => fileObject(object, session, defined)))
}

async function withLabels(objects: readonly DynamicObject[], text: string): Promise<readonly DynamicObject[]> {
  const { compileLabelSelector } = await import('../api/label-selector.js')
  try {
    const selector = compileLabelSelector(text)
    return objects.filter(({ metadata }) => selector.matches(metadata?.labels ?? {}))
  } catch (thrown) {
    throw new UsageError(`the selector ${JSON.stringify(text)}: ${thrown instanceof Error ? thrown.message : String(thrown)}`)
  }
}

/** Whoever names something beside files would have it passed over. */
export function refuseWordsBesideFiles(args: readonly string[], { filename }: Pick<FileFlags, 'filename'>): void {
  if (filename.length > 0 && args.length > 0)
    throw new UsageError('when paths, URLs, or stdin is provided as resource input, you may not specify resource arguments as well')
}

/** An object with its place on the server; kinds that are not served yet may be defined beside it. */
export async function fileObject(
  object: DynamicObject,
  session: Session,
  defined: ReadonlyMap<string, ServedResource> = new Map(),
): Promise<Filed> {
  const { apiVersion = '', kind = '' } = object
  const resource = defined.get(`${apiVersion} ${kind}`) ?? (await session.resources.ofKind(apiVersion, kind))
  // Templates leave an empty one, and mean none.
  const namespace = object.metadata?.namespace || undefined
  if (resource.namespaced && namespace !== undefined && session.flags.namespace !== undefined && namespace !== session.flags.namespace)
    throw new Failure(
      `the namespace from the provided object "${namespace}" does not match the namespace "${session.flags.namespace}". You must pass '--namespace=${namespace}' to perform this operation.`,
    )
  const own = resource.namespaced ? (namespace ?? session.namespace) : undefined
  const placed = own === undefined ? object : { ...object, metadata: { ...object.metadata, namespace: own } }
  return {
    resource,
    name: object.metadata?.name ?? '',
    collection: session.client.collection(resource, own),
    object: placed,
    origin: originOf(object),
  }
}

/** What `-f`, or names, or selectors say: as objects that are there. */
export async function namedOrFiled(
  args: readonly string[],
  flags: FileFlags & {
    readonly all?: boolean
    readonly 'all-namespaces'?: boolean
    readonly 'field-selector'?: string | undefined
    readonly 'chunk-size'?: number | undefined
  },
  surroundings: { readonly session: Session; readonly io: Io },
): Promise<readonly Named[]> {
  refuseWordsBesideFiles(args, flags)
  if (flags.filename.length > 0) return readFiled(flags, surroundings)
  const { named, collections } = await wantedBy(args, { session: surroundings.session, allNamespaces: flags['all-namespaces'] ?? false })
  if (flags.all === true && (flags.selector !== undefined || flags['field-selector'] !== undefined) && collections.length > 0)
    throw new UsageError("setting 'all' parameter but found a non empty selector: leave --all out")
  const selects = flags.selector !== undefined || flags.all === true || flags['field-selector'] !== undefined
  if (named.length > 0 && selects) throw new UsageError('name cannot be provided when a selector is specified')
  if (named.length > 0) return named
  if (collections.length === 0) throw new UsageError('name an object (TYPE NAME or TYPE/NAME), or a file with -f')
  if (!selects) throw new UsageError('resource(s) were provided, but no name was specified')
  const limit = flags['chunk-size'] ?? 500
  const found: Named[] = []
  for (const { resource, collection } of collections) {
    const select = {
      ...(flags.selector === undefined ? {} : { labelSelector: flags.selector }),
      ...(flags['field-selector'] === undefined ? {} : { fieldSelector: flags['field-selector'] }),
    }
    for await (const { metadata } of collection.metadata.items({ ...select, ...(limit > 0 ? { limit } : {}) }))
      found.push({
        resource,
        name: metadata?.name ?? '',
        collection: resource.namespaced ? collection.in(metadata?.namespace) : collection,
      })
  }
  return found
}

/** `configmap/prices`, `deployment.apps/shop` */
export const fullNameOf = ({ singular, resource, group, kind }: ServedResource, name: string | undefined): string =>
  `${singular || kind.toLowerCase() || resource}${group === '' ? '' : `.${group}`}/${name ?? ''}`

/** The same from an object alone. */
export const nameOfObject = ({ apiVersion = '', kind = '', metadata }: ApiObject): string => {
  const slash = apiVersion.indexOf('/')
  return `${kind.toLowerCase()}${slash < 0 ? '' : `.${apiVersion.slice(0, slash)}`}/${metadata?.name ?? ''}`
}
