// Installs @kubernetes/client-node and declares the types that the tests use; it is no dependency of this project.

import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { JsonObject } from '../kit/network/json-object.js'
import { cacheFolder, install, type Obtained, obtain } from './obtain.js'

const packageName = '@kubernetes/client-node'

/** Last version that supports every Node.js version of this project. */
const version = '1.4.0'

/** Fails fast without network; install scripts do not run. */
const flags = [
  '--no-audit',
  '--no-fund',
  '--ignore-scripts',
  '--loglevel=error',
  '--fetch-retries=1',
  '--fetch-retry-mintimeout=1000',
  '--fetch-retry-maxtimeout=5000',
]

export interface ClientNode {
  readonly KubeConfig: new () => KubeConfig
  readonly CoreV1Api: ApiType<CoreV1Api>
  readonly AppsV1Api: ApiType<AppsV1Api>
  readonly VersionApi: ApiType<{ getCode(): Promise<Readonly<Record<string, string>>> }>
  readonly Watch: new (configuration: KubeConfig) => Watch
  readonly KubernetesObjectApi: { makeApiClient(configuration: KubeConfig): ObjectApi }
  readonly PatchStrategy: Readonly<Record<'JsonPatch' | 'MergePatch' | 'StrategicMergePatch' | 'ServerSideApply', string>>
  setHeaderOptions(name: string, value: string): Options
  makeInformer(configuration: KubeConfig, path: string, list: () => Promise<JsonObject>, labelSelector?: string): Informer
}

/** API class for `makeApiClient`. */
interface ApiType<Api> {
  readonly prototype: Api
}

export interface KubeConfig {
  readonly users: readonly object[]
  loadFromFile(path: string): void
  getCurrentCluster(): { readonly server: string }
  /** Adds TLS and authentication to request options. */
  applyToHTTPSOptions(options: object): Promise<void>
  makeApiClient<Api>(type: ApiType<Api>): Api
}

type Options = { readonly middleware?: unknown }

interface Named {
  readonly name: string
  readonly namespace: string
}

interface Listing {
  readonly namespace: string
  readonly labelSelector?: string
  readonly limit?: number
  readonly _continue?: string
}

interface Patching extends Named {
  readonly body: unknown
  readonly fieldManager?: string
  readonly force?: boolean
}

interface Creating {
  readonly namespace: string
  readonly body: unknown
  readonly dryRun?: string
}

export interface CoreV1Api {
  createNamespace(input: { readonly body: unknown }): Promise<JsonObject>
  createNamespacedConfigMap(input: Creating): Promise<JsonObject>
  readNamespacedConfigMap(input: Named): Promise<JsonObject>
  replaceNamespacedConfigMap(input: Named & { readonly body: unknown }): Promise<JsonObject>
  patchNamespacedConfigMap(input: Patching, options?: Options): Promise<JsonObject>
  listNamespacedConfigMap(input: Listing): Promise<JsonObject>
  deleteNamespacedConfigMap(input: Named): Promise<JsonObject>
  deleteCollectionNamespacedConfigMap(input: Listing): Promise<JsonObject>
}

export interface AppsV1Api {
  createNamespacedDeployment(input: Creating): Promise<JsonObject>
  patchNamespacedDeployment(input: Patching, options?: Options): Promise<JsonObject>
  readNamespacedDeploymentScale(input: Named): Promise<JsonObject>
  replaceNamespacedDeploymentStatus(input: Named & { readonly body: unknown }): Promise<JsonObject>
  replaceNamespacedDeploymentScale(input: Named & { readonly body: unknown }): Promise<JsonObject>
}

interface Watch {
  watch(
    path: string,
    query: Readonly<Record<string, string | boolean>>,
    onEvent: (type: string, object: JsonObject) => void,
    onEnd: (error: unknown) => void,
  ): Promise<AbortController>
}

/** Client for any kind; finds paths by discovery. */
export interface ObjectApi {
  create(object: unknown): Promise<JsonObject>
  read(object: unknown): Promise<JsonObject>
  list(apiVersion: string, kind: string, namespace: string): Promise<JsonObject>
  patch(object: unknown): Promise<JsonObject>
  replace(object: unknown): Promise<JsonObject>
  delete(object: unknown): Promise<JsonObject>
}

export interface Informer {
  on(event: 'add' | 'update' | 'delete', listener: (object: JsonObject) => void): void
  on(event: 'error' | 'connect', listener: (error?: unknown) => void): void
  start(): Promise<void>
  stop(): Promise<void>
  get(name: string, namespace: string): JsonObject | undefined
  list(namespace?: string): readonly JsonObject[]
}

export const obtainClientNode = (): Promise<Obtained> => obtain(packageName, findClientNode)

export const importClientNode = async (path: string): Promise<ClientNode> => (await import(pathToFileURL(path).href)) as ClientNode

async function findClientNode(): Promise<string> {
  const folder = join(cacheFolder, `client-node-${version}`)
  const entry = join(folder, 'node_modules', packageName, 'dist', 'index.js')
  // npm writes this file last; without it, the installation is incomplete.
  if (existsSync(entry) && existsSync(join(folder, 'node_modules', '.package-lock.json'))) return entry
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, 'package.json'), '{"private":true}\n')
  await install('npm', ['install', ...flags, `${packageName}@${version}`], folder)
  return entry
}
