// CRD schemas of other projects, taken from npm packages that contain them for TypeScript.

import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { cacheFolder, install, type Obtained, obtain } from './obtain.js'

/** Versions that contain schemas as data, not compiled. */
const packages = [
  '@kubernetes-models/argo-cd@2.3.1',
  '@kubernetes-models/argo-rollouts@0.3.2',
  '@kubernetes-models/gateway-api@0.5.0',
  '@kubernetes-models/istio@2.3.0',
  '@kubernetes-models/knative@2.3.1',
  '@kubernetes-models/prometheus-operator@1.6.3',
]
const flags = [
  '--no-audit',
  '--no-fund',
  '--ignore-scripts',
  '--legacy-peer-deps',
  '--loglevel=error',
  '--fetch-retries=1',
  '--fetch-retry-mintimeout=1000',
  '--fetch-retry-maxtimeout=5000',
]

/** Folder of the installed packages. */
export const obtainCrdPackages = (): Promise<Obtained> =>
  obtain('CRDs of other projects', async () => {
    const folder = join(cacheFolder, 'definitions-1')
    const packageFolder = join(folder, 'node_modules', '@kubernetes-models')
    if (existsSync(packageFolder) && existsSync(join(folder, 'node_modules', '.package-lock.json'))) return packageFolder
    mkdirSync(folder, { recursive: true })
    writeFileSync(join(folder, 'package.json'), '{"private":true}\n')
    await install('npm', ['install', ...flags, ...packages], folder)
    return packageFolder
  })

export type Schema = { readonly [keyword: string]: unknown }

export interface FoundSchema {
  readonly group: string
  readonly version: string
  readonly kind: string
  /** As in a CRD. */
  readonly schema: Schema
  readonly bytes: number
}

/** Sorted by size, largest first. */
export function readSchemas(folder: string): readonly FoundSchema[] {
  const found: FoundSchema[] = []
  for (const { name } of packages.map((spec) => ({ name: spec.replace(/^@[^/]+\//, '').replace(/@.*/, '') }))) {
    for (const file of readdirSync(join(folder, name), { recursive: true, encoding: 'utf8' })) {
      const [, group, version, kind] = /^([a-z0-9.-]+)\/(v[^/]+)\/([A-Z]\w+)\.js$/.exec(file) ?? []
      const text = group === undefined ? '' : readFileSync(join(folder, name, file), 'utf8')
      const start = text.indexOf('const schema = ')
      if (start < 0 || group === undefined || version === undefined || kind === undefined) continue
      const json = text.slice(start + 'const schema = '.length, text.indexOf('\n};', start) + 2)
      found.push({ group, version, kind, schema: crdSchema(JSON.parse(json) as Schema), bytes: json.length })
    }
  }
  return found.sort((a, b) => b.bytes - a.bytes)
}

const isSchema = (value: unknown): value is Schema => typeof value === 'object' && value !== null && !Array.isArray(value)

/** Converts a JSON schema back to the CRD schema that it was generated from. */
function crdSchema(root: Schema): Schema {
  const { properties, required: _required, ...rest } = root
  const {
    apiVersion: _apiVersion,
    kind: _kind,
    metadata: _metadata,
    ...otherProperties
  } = (properties ?? {}) as { readonly [name: string]: Schema }
  return { ...rest, properties: mapSchemas(otherProperties, crdSchemaPart) }
}

function crdSchemaPart(schema: Schema): Schema {
  const { nullable: _nullable, ...rest } = schema
  const alternatives = Array.isArray(rest['oneOf']) ? (rest['oneOf'] as readonly Schema[]) : []
  const other = alternatives.length === 2 ? alternatives.find(({ type }) => type !== 'null') : undefined
  if (alternatives.some(({ type }) => type === 'null') && other !== undefined) return crdSchemaPart(other)
  if (isIntOrString(rest)) return { ...rest, 'x-kubernetes-int-or-string': true }
  if (rest['type'] === undefined) return { 'x-kubernetes-preserve-unknown-fields': true }
  return {
    ...rest,
    ...(isSchema(rest['properties'])
      ? { properties: mapSchemas(rest['properties'] as { readonly [name: string]: Schema }, crdSchemaPart) }
      : {}),
    ...(isSchema(rest['items']) ? { items: crdSchemaPart(rest['items']) } : {}),
    ...(isSchema(rest['additionalProperties']) ? { additionalProperties: crdSchemaPart(rest['additionalProperties']) } : {}),
  }
}

const isIntOrString = ({ type, anyOf }: Schema): boolean =>
  type === undefined && Array.isArray(anyOf) && anyOf.map((each: Schema) => each['type']).join() === 'integer,string'

const mapSchemas = (schemas: { readonly [name: string]: Schema }, map: (schema: Schema) => Schema): { readonly [name: string]: Schema } =>
  Object.fromEntries(Object.entries(schemas).map(([name, schema]) => [name, map(schema)]))

const sampleStrings = [
  'example',
  'a',
  '1',
  '1s',
  'a.b',
  '80',
  'a/b',
  '10Mi',
  'http://a.b',
  'A',
  '2020-01-01T00:00:00Z',
  '/a',
  'example.com',
  '0',
]

/** A value with only the required fields; combinators such as oneOf are ignored, so the schema may reject it. */
export function minValue(schema: Schema): unknown {
  if (schema['default'] !== undefined) return schema['default']
  if (Array.isArray(schema['enum'])) return schema['enum'][0]
  if (schema['x-kubernetes-int-or-string'] === true) return 1
  switch (schema['type']) {
    case 'object': {
      const properties = (schema['properties'] ?? {}) as { readonly [name: string]: Schema }
      const required = (schema['required'] ?? []) as readonly string[]
      return Object.fromEntries(required.map((name) => [name, minValue(properties[name] ?? {})]))
    }
    case 'array':
      return Array.from({ length: Number(schema['minItems'] ?? 0) }, () => minValue((schema['items'] ?? {}) as Schema))
    case 'string':
      return minString(schema)
    case 'boolean':
      return true
    default:
      return schema['type'] === undefined ? {} : Number(schema['minimum'] ?? 1)
  }
}

function minString({ pattern, format, minLength = 0 }: Schema): string {
  const found = sampleStrings.find(
    (text) =>
      text.length >= Number(minLength) &&
      (pattern === undefined || new RegExp(String(pattern)).test(text)) &&
      (format !== 'date-time' || text.startsWith('2020')),
  )
  return found ?? 'x'.repeat(Number(minLength))
}
