// Fixture: every kind of the catalogue (recorded facts about kube-apiserver) as a resource definition without rules.

import { readdirSync, readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import {
  defineResource,
  type ResourceDefinition,
  type SubresourceDefinition,
  type Verb,
} from '@cluster-apiserver/api/api/definition/resource-definition.js'
import type { GroupName } from '@cluster-apiserver/api/api/identity.js'
import { loadSchemas } from '@cluster-apiserver/api/resources/load-schemas.js'
import type { StructNode } from '@cluster-apiserver/api/schema/node.js'

export const catalogueFolder = resolve('../shared/catalogue')

interface CatalogueSubresource {
  readonly name: string
  readonly kind: string
  readonly group?: string
  readonly version?: string
  readonly verbs: readonly Verb[]
}

interface CatalogueResource extends CatalogueSubresource {
  readonly namespaced: boolean
  readonly shortNames?: readonly string[]
  readonly categories?: readonly string[]
  readonly subresources?: readonly CatalogueSubresource[]
}

export interface CatalogueFile {
  readonly group: string
  readonly version: string
  readonly served: boolean
  readonly schemaPrefix?: string
  readonly resources: readonly CatalogueResource[]
  readonly types: { readonly [name: string]: CatalogueType }
}

interface CatalogueType {
  readonly fields?: readonly CatalogueField[]
  readonly gvk?: readonly { readonly group: string; readonly version: string; readonly kind: string }[]
  readonly schema?: string
  readonly jsonForm?: string
  readonly format?: string
  readonly mapType?: string
  readonly unions?: readonly unknown[]
}

export interface CatalogueField {
  readonly name: string
  readonly type: string
  readonly inline?: boolean
  readonly jsonOnly?: boolean
  readonly protoOnly?: boolean
  readonly required?: boolean
  readonly default?: unknown
  readonly enum?: readonly string[]
  readonly enumOpen?: boolean
  readonly listType?: string
  readonly listMapKeys?: readonly string[]
  readonly mapType?: string
  readonly patchStrategy?: string
  readonly patchMergeKey?: string
}

export const readCatalogue = <T>(path: string): T =>
  JSON.parse(readFileSync(`${catalogueFolder}/${path}`, 'utf8').replaceAll('"io.cluster.', '"io.k8s.')) as T

export function catalogueFiles(): ReadonlyMap<string, CatalogueFile> {
  const names = readdirSync(catalogueFolder).filter((name) => /_v\d\w*\.json$/.test(name))
  return new Map(names.map((name) => [name.replace('.json', ''), readCatalogue<CatalogueFile>(name)]))
}

const stemOf = (group: string): GroupName => (group.endsWith('.cluster.io') ? { stem: group.replace('.cluster.io', '') } : group)
const folderOf = (group: string): string => (group === '' ? 'core' : group.replace('.cluster.io', '').replaceAll('.', '-'))

async function nodesOf(group: string, version: string): Promise<ReadonlyMap<string, StructNode>> {
  const module = (await loadSchemas(`${folderOf(group)}/${version}`)) as { readonly [name: string]: StructNode }
  return new Map(Object.values(module).map((node) => [node.name, node]))
}

interface OpenApiFacts {
  readonly paths: { readonly [path: string]: { readonly delete?: { readonly responses: { readonly [code: string]: string } } } }
}

export async function catalogueDefinitions(): Promise<readonly ResourceDefinition[]> {
  const facts = readCatalogue<OpenApiFacts>('openapi/paths.json')
  const definitions = new Map<string, ResourceDefinition>()
  for (const { group, version, served, resources } of catalogueFiles().values()) {
    if (!served) continue
    for (const resource of resources) {
      const nodes = await nodesOf(group, version)
      const root = group === '' ? `/api/${version}` : `/apis/${group}/${version}`
      const path = `${root}${resource.namespaced ? '/namespaces/{namespace}' : ''}/${resource.name}/{name}`
      const versions = definitions.get(`${group}/${resource.name}`)?.versions ?? []
      definitions.set(
        `${group}/${resource.name}`,
        defineResource({
          group: stemOf(group),
          kind: resource.kind,
          resource: resource.name,
          namespaced: resource.namespaced,
          verbs: resource.verbs,
          ...(resource.shortNames && { shortNames: resource.shortNames }),
          ...(resource.categories && { categories: resource.categories }),
          versions: [...versions, { name: version, schema: nodes.get(resource.kind) as StructNode, stored: true }],
          subresources: await Promise.all((resource.subresources ?? []).map((one) => subresource({ group, version, resource }, one))),
          nameProblems: () => [],
          deleteReturnsObject: facts.paths[path]?.delete?.responses['200']?.endsWith(`.${resource.kind}`) === true,
        }),
      )
    }
  }
  return [...definitions.values()]
}

interface ParentResource {
  readonly group: string
  readonly version: string
  readonly resource: CatalogueResource
}

async function subresource(parent: ParentResource, facts: CatalogueSubresource): Promise<SubresourceDefinition> {
  const { name, kind, verbs } = facts
  const group = facts.group ?? parent.group
  const version = facts.version ?? parent.version
  const nodes = await nodesOf(group, version)
  const common = { name, verbs, prepareUpdate: <T>(next: T): T => next }
  const named = { kind, ...(facts.group === undefined ? {} : { group: stemOf(facts.group), version }) }
  if (name === 'log') return { ...common, body: named, query: nodes.get('PodLogOptions') as StructNode }
  if (kind.endsWith('Options')) return { ...common, body: named, query: nodes.get(kind) as StructNode }
  const schema = nodes.get(kind) as StructNode
  if (verbs.includes('create')) return { ...common, body: { ...named, schema } }
  if (kind === parent.resource.kind) return common
  return { ...common, view: { group: stemOf(group), version, kind, schema, read: (object) => object, write: (_view, object) => object } }
}
