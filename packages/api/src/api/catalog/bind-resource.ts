// Binds ResourceDefinitions to the server's Identity, which sets the suffix of API groups.
// Returns the immutable Resources of one storage collection, which serve as cache keys.

import { type Conversion, checkedConversion } from '../definition/conversion-webhook.js'
import type {
  ResourceDefinition,
  ResourceVersionDefinition,
  SubresourceDefinition,
  SubresourceView,
  Verb,
} from '../definition/resource-definition.js'
import type { Identity } from '../identity.js'
import { metadataFields, selectableFields } from '../selectors/field-selector.js'
import { indexVersionFor } from './field-index-version.js'
import type { KnownVersion, Resource, ServedFilter, Subresource } from './resource.js'

const allVerbs: readonly Verb[] = ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'update', 'watch']

export const collectionOf = (identity: Identity, definition: ResourceDefinition): string => {
  const group = identity.group(definition.storedAs?.group ?? definition.group)
  return group === '' ? definition.resource : `${definition.resource}.${group}`
}

function storedVersion(identity: Identity, definition: ResourceDefinition): string {
  const { storedAs, versions } = definition
  if (storedAs !== undefined) return apiVersionOf(identity.group(storedAs.group), storedAs.version)
  const stored = versions.find((candidate) => candidate.stored) ?? versions[0]
  return apiVersionOf(identity.group(definition.group), stored?.name ?? '')
}

export const storedVersions = (identity: Identity, definitions: readonly ResourceDefinition[]): ReadonlyMap<string, string> =>
  new Map(definitions.map((definition) => [collectionOf(identity, definition), storedVersion(identity, definition)]))

interface Binding {
  readonly identity: Identity
  readonly definition: ResourceDefinition
  readonly version: ResourceVersionDefinition
  readonly indexedFields: Resource['indexedFields']
  readonly versions: Resource['versions']
}

export function bindCollection(
  definitions: readonly ResourceDefinition[],
  { identity, isServed }: { readonly identity: Identity; readonly isServed: ServedFilter },
): readonly Resource[] {
  const served: Resource[] = []
  const indexedFields = indexedFieldsOf(definitions)
  const versions = knownVersions(definitions, identity)
  for (const definition of definitions) {
    const group = identity.group(definition.group)
    for (const version of definition.versions) {
      // For custom resources the `served` field of the CRD version decides, not --runtime-config.
      const isEnabled = definition.custom !== undefined || isServed({ group, version: version.name, resource: definition.resource })
      if (version.unserved !== true && isEnabled) served.push(bind({ identity, definition, version, indexedFields, versions }))
    }
  }
  return served
}

function knownVersions(definitions: readonly ResourceDefinition[], identity: Identity): Resource['versions'] {
  const known = new Map<string, KnownVersion>()
  for (const definition of definitions) {
    for (const { name, schema, toStored, fromStored, overrides = definition } of definition.versions)
      known.set(apiVersionOf(identity.group(definition.group), name), {
        schema,
        replicasPath: replicasPathOf(overrides),
        toStored: withIdentity(toStored, identity),
        fromStored: withIdentity(fromStored, identity),
      })
  }
  return known
}

const replicasPathOf = ({ subresources = [] }: Pick<ResourceDefinition, 'subresources'>): string | undefined =>
  subresources.find(({ view }) => view?.replicasPath !== undefined)?.view?.replicasPath

function indexedFieldsOf(definitions: readonly ResourceDefinition[]): Resource['indexedFields'] {
  let indexed: Resource['indexedFields']
  for (const { selectableFields } of definitions) if (selectableFields !== undefined) indexed = { ...indexed, ...selectableFields }
  return indexed
}

const storedVersionDefinition = ({ version, schema }: NonNullable<ResourceDefinition['storedAs']>): ResourceVersionDefinition => ({
  name: version,
  schema,
})

const apiVersionOf = (group: string, version: string): string => (group === '' ? version : `${group}/${version}`)

function bind({ identity, definition: kindDefinition, version, indexedFields, versions }: Binding): Resource {
  const definition = version.overrides === undefined ? kindDefinition : { ...kindDefinition, ...version.overrides }
  const group = identity.group(definition.group)
  const storedGroup = definition.storedAs === undefined ? group : identity.group(definition.storedAs.group)
  const stored =
    definition.storedAs === undefined
      ? (definition.versions.find((candidate) => candidate.stored) ?? version)
      : storedVersionDefinition(definition.storedAs)
  const subresources = new Map<string, Subresource>()
  const resource: Resource = {
    definition,
    group,
    version: version.name,
    apiVersion: apiVersionOf(group, version.name),
    kind: definition.kind,
    name: definition.resource,
    namespaced: definition.namespaced,
    schema: version.schema,
    storedSchema: stored.schema,
    storedApiVersion: storedVersion(identity, definition),
    hashedApiVersion: apiVersionOf(storedGroup, definition.hashedVersion ?? stored.name),
    toStored: withIdentity(version.toStored, identity),
    fromStored: withIdentity(version.fromStored, identity),
    conversion: conversionOf(definition, apiVersionOf(group, version.name)),
    defaults: version.defaults ?? definition.defaults,
    deprecation: version.deprecation,
    verbs: definition.verbs ?? allVerbs,
    subject: { group, resource: definition.resource, kind: definition.kind },
    invalidSubject: { group: identity.group(definition.errorGroup ?? definition.group), kind: definition.kind },
    selectable:
      definition.selectableFields === undefined
        ? metadataFields
        : selectableFields({
            namespaced: definition.namespaced,
            fields: Object.keys(definition.selectableFields),
            refusal: definition.fieldRefusal,
          }),
    indexedFields,
    indexVersion: indexVersionFor(Object.keys(indexedFields ?? {})),
    collection: collectionOf(identity, definition),
    versions,
    subresources,
  }
  for (const subresource of definition.subresources ?? [])
    subresources.set(subresource.name, bindSubresource(subresource, resource, identity))
  return resource
}

const conversionOf = ({ kind, conversion }: ResourceDefinition, version: string): Conversion | undefined =>
  conversion === undefined ? undefined : { version, convert: checkedConversion(kind, conversion) }

const withIdentity = (convert: ResourceVersionDefinition['toStored'], identity: Identity): Resource['toStored'] =>
  convert === undefined ? undefined : (object) => convert(object, identity)

function bindSubresource(subresource: SubresourceDefinition, resource: Resource, identity: Identity): Subresource {
  const bodyType = subresource.view ?? subresource.body
  const group = bodyType?.group === undefined ? resource.group : identity.group(bodyType.group)
  const version = bodyType?.version ?? resource.version
  return {
    ...subresource,
    shown: subresource.view === undefined ? resource : bindView(subresource.view, resource, identity),
    type: { group, version, apiVersion: apiVersionOf(group, version), kind: bodyType?.kind ?? resource.kind },
  }
}

function bindView(view: SubresourceView, resource: Resource, identity: Identity): Resource {
  return {
    ...resource,
    kind: view.kind,
    apiVersion: apiVersionOf(identity.group(view.group), view.version),
    schema: view.schema,
    toStored: undefined,
    definition: view.table === undefined ? resource.definition : { ...resource.definition, table: view.table },
    fromStored: (object) => view.read(resource.fromStored?.(object) ?? object),
  }
}
