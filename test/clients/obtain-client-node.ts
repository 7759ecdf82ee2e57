// The client for Node from npm, as far as these tests use it. It is no dependency of this project, so its shape is told here.

import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Wire } from '../kit/wire.js'
import { cacheFolder, install, type Obtained, obtain } from './obtaining.js'

const packageName = '@kubernetes/client-node'

/** The last one that runs on every version of Node that this project runs on. */
const version = '1.4.0'

/** Without the network it is to fail soon; nothing that comes from there is run while installing. */
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
  makeInformer(configuration: KubeConfig, path: string, list: () => Promise<Wire>, labelSelector?: string): Informer
}

/** A key to its implementation, which `makeApiClient` takes. */
export interface ApiType<Api> {
  readonly prototype: Api
}

export interface KubeConfig {
  readonly users: readonly object[]
  loadFromFile(path: string): void
  getCurrentCluster(): { readonly server: string }
  /** Puts in what a request of Node takes to reach the server as the user. */
  applyToHTTPSOptions(options: object): Promise<void>
  makeApiClient<Api>(type: ApiType<Api>): Api
}

type Options = { readonly middleware?: unknown }

export interface Named {
  readonly name: string
  readonly namespace: string
}

export interface Listing {
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
  createNamespace(input: { readonly body: unknown }): Promise<Wire>
  createNamespacedConfigMap(input: Creating): Promise<Wire>
  readNamespacedConfigMap(input: Named): Promise<Wire>
  replaceNamespacedConfigMap(input: Named & { readonly body: unknown }): Promise<Wire>
  patchNamespacedConfigMap(input: Patching, options?: Options): Promise<Wire>
  listNamespacedConfigMap(input: Listing): Promise<Wire>
  deleteNamespacedConfigMap(input: Named): Promise<Wire>
  deleteCollectionNamespacedConfigMap(input: Listing): Promise<Wire>
}

export interface AppsV1Api {
  createNamespacedDeployment(input: Creating): Promise<Wire>
  patchNamespacedDeployment(input: Patching, options?: Options): Promise<Wire>
  readNamespacedDeploymentScale(input: Named): Promise<Wire>
  replaceNamespacedDeploymentStatus(input: Named & { readonly body: unknown }): Promise<Wire>
  replaceNamespacedDeploymentScale(input: Named & { readonly body: unknown }): Promise<Wire>
}

export interface Watch {
  watch(
    path: string,
    query: Readonly<Record<string, string | boolean>>,
    onEvent: (type: string, object: Wire) => void,
    onEnd: (error: unknown) => void,
  ): Promise<AbortController>
}

/** For objects of any kind: it finds the path by discovery. */
export interface ObjectApi {
  create(object: unknown): Promise<Wire>
  read(object: unknown): Promise<Wire>
  list(apiVersion: string, kind: string, namespace: string): Promise<Wire>
  patch(object: unknown): Promise<Wire>
  replace(object: unknown): Promise<Wire>
  delete(object: unknown): Promise<Wire>
}

export interface Informer {
  on(event: 'add' | 'update' | 'delete', listener: (object: Wire) => void): void
  on(event: 'error' | 'connect', listener: (error?: unknown) => void): void
  start(): Promise<void>
  stop(): Promise<void>
  get(name: string, namespace: string): Wire | undefined
  list(namespace?: string): readonly Wire[]
}

export const obtainClientNode = (): Promise<Obtained> => obtain(packageName, findClientNode)

export const importClientNode = async (path: string): Promise<ClientNode> => (await import(pathToFileURL(path).href)) as ClientNode

async function findClientNode(): Promise<string> {
  const folder = join(cacheFolder, `client-node-${version}`)
  const entry = join(folder, 'node_modules', packageName, 'dist', 'index.js')
  // npm writes this file last, so a folder without it is of an installation that was cut off.
  if (existsSync(entry) && existsSync(join(folder, 'node_modules', '.package-lock.json'))) return entry
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, 'package.json'), '{"private":true}\n')
  await install('npm', ['install', ...flags, `${packageName}@${version}`], folder)
  return entry
}
