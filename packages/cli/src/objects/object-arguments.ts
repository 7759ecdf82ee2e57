// Resolves the object arguments of commands: `pod/a`, `pods a b`, `pods,services`, selectors, files.

import { errorMessage } from '@cluster-apiserver/api/base/error-message.js'
import type { Collection } from '@cluster-apiserver/client/collection.js'
import type { ServedResource } from '@cluster-apiserver/client/discovery.js'
import type { DynamicObject } from '@cluster-apiserver/client/objects/objects.js'
import { CommandError } from '../command-line/errors.js'
import { type FlagTable, UsageError } from '../command-line/flags.js'
import type { Io } from '../command-line/io.js'
import type { Session } from '../command-line/session.js'
import { inCreationOrder, resourcesOfCrds } from './crds-in-manifests.js'
import { originOf, readManifests } from './manifests.js'
import type { ManifestObject, NamedObject } from './named-object.js'

export interface ResolvedArguments {
  readonly named: readonly NamedObject[]
  readonly collections: readonly { readonly resource: ServedResource; readonly collection: Collection<DynamicObject> }[]
}

export const fileFlags = {
  filename: { kind: 'list', short: 'f', help: 'files, folders or URLs with objects; -: stdin' },
  recursive: { kind: 'switch', short: 'R', help: 'also read subfolders' },
  kustomize: { kind: 'text', short: 'k', help: 'not supported; pipe the output of kustomize into "-f -"' },
} as const satisfies FlagTable

export const selectFlags = {
  selector: { kind: 'text', short: 'l', help: 'label selector: a=b,c in (d,e),!f' },
  'field-selector': { kind: 'text', help: 'field selector: metadata.name=a' },
  'all-namespaces': { kind: 'switch', short: 'A', help: 'all namespaces' },
} as const satisfies FlagTable

export const chunkFlags = {
  'chunk-size': { kind: 'number', initial: '500', help: 'objects per list request; 0: all' },
} as const satisfies FlagTable

interface ResolveOptions {
  readonly session: Session
  readonly allNamespaces?: boolean
}

const collectionIn = ({ session, allNamespaces = false }: ResolveOptions, resource: ServedResource): Collection<DynamicObject> =>
  session.client.collection(resource, resource.namespaced && !allNamespaces ? session.namespace : undefined)

export async function resolveArguments(args: readonly string[], options: ResolveOptions): Promise<ResolvedArguments> {
  if (args.length === 0) return { named: [], collections: [] }
  const { resources } = options.session
  if (args.some((arg) => arg.includes('/'))) {
    const named = await Promise.all(
      args.map(async (arg) => {
        const [type = '', name = '', ...extraParts] = arg.split('/')
        if (extraParts.length > 0 || name === '' || type === '')
          throw new UsageError(`arguments in resource/name form must have a single resource and name: ${arg}`)
        const resource = await resources.find(type)
        return { resource, name, collection: collectionIn(options, resource) }
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
    return { named: [], collections: found.map((resource) => ({ resource, collection: collectionIn(options, resource) })) }
  return {
    named: found.flatMap((resource) => names.map((name) => ({ resource, name, collection: collectionIn(options, resource) }))),
    collections: [],
  }
}

export async function resolveOne(args: readonly string[], options: ResolveOptions): Promise<NamedObject> {
  const { named } = await resolveArguments(args, options)
  const [first] = named
  if (first === undefined || named.length > 1) throw new UsageError('exactly one object is required, as TYPE NAME or TYPE/NAME')
  return first
}

export interface FileFlags {
  readonly filename: readonly string[]
  readonly recursive: boolean
  readonly selector?: string | undefined
}

export async function readManifestObjects(
  flags: FileFlags,
  { session, io }: { readonly session: Session; readonly io: Io },
): Promise<readonly ManifestObject[]> {
  const objects = await readManifests(flags, io)
  if (objects.length === 0) throw new CommandError('no objects passed')
  const crdResources = resourcesOfCrds(objects)
  const selected = flags.selector === undefined ? objects : await filterByLabels(objects, flags.selector)
  return Promise.all(inCreationOrder(selected).map((object) => locateObject(object, session, crdResources)))
}

async function filterByLabels(objects: readonly DynamicObject[], text: string): Promise<readonly DynamicObject[]> {
  const { compileLabelSelector } = await import('@cluster-apiserver/api/api/selectors/label-selector.js')
  try {
    const selector = compileLabelSelector(text)
    return objects.filter(({ metadata }) => selector.matches(metadata?.labels ?? {}))
  } catch (thrown) {
    throw new UsageError(`invalid selector ${JSON.stringify(text)}: ${errorMessage(thrown)}`)
  }
}

export function rejectArgumentsWithFiles(args: readonly string[], { filename }: Pick<FileFlags, 'filename'>): void {
  if (filename.length > 0 && args.length > 0)
    throw new UsageError('when paths, URLs, or stdin is provided as resource input, you may not specify resource arguments as well')
}

export async function locateObject(
  object: DynamicObject,
  session: Session,
  crdResources: ReadonlyMap<string, ServedResource> = new Map(),
): Promise<ManifestObject> {
  const { apiVersion = '', kind = '' } = object
  const resource = crdResources.get(`${apiVersion} ${kind}`) ?? (await session.resources.ofKind(apiVersion, kind))
  const namespace = object.metadata?.namespace || undefined
  if (resource.namespaced && namespace !== undefined && session.flags.namespace !== undefined && namespace !== session.flags.namespace)
    throw new CommandError(
      `the namespace from the provided object "${namespace}" does not match the namespace "${session.flags.namespace}". You must pass '--namespace=${namespace}' to perform this operation.`,
    )
  const objectNamespace = resource.namespaced ? (namespace ?? session.namespace) : undefined
  const located = objectNamespace === undefined ? object : { ...object, metadata: { ...object.metadata, namespace: objectNamespace } }
  return {
    resource,
    name: object.metadata?.name ?? '',
    collection: session.client.collection(resource, objectNamespace),
    object: located,
    origin: originOf(object),
  }
}

export async function resolveObjects(
  args: readonly string[],
  flags: FileFlags & {
    readonly all?: boolean
    readonly 'all-namespaces'?: boolean
    readonly 'field-selector'?: string | undefined
    readonly 'chunk-size'?: number | undefined
  },
  context: { readonly session: Session; readonly io: Io },
): Promise<readonly NamedObject[]> {
  rejectArgumentsWithFiles(args, flags)
  if (flags.filename.length > 0) return readManifestObjects(flags, context)
  const { named, collections } = await resolveArguments(args, {
    session: context.session,
    allNamespaces: flags['all-namespaces'] ?? false,
  })
  if (flags.all === true && (flags.selector !== undefined || flags['field-selector'] !== undefined) && collections.length > 0)
    throw new UsageError("setting 'all' parameter but found a non empty selector: leave --all out")
  const hasSelector = flags.selector !== undefined || flags.all === true || flags['field-selector'] !== undefined
  if (named.length > 0 && hasSelector) throw new UsageError('name cannot be provided when a selector is specified')
  if (named.length > 0) return named
  if (collections.length === 0) throw new UsageError('an object (TYPE NAME or TYPE/NAME) or a file (-f) is required')
  if (!hasSelector) throw new UsageError('resource(s) were provided, but no name was specified')
  const limit = flags['chunk-size'] ?? 500
  const found: NamedObject[] = []
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
