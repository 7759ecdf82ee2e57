// Runs scenarios with @kubernetes/client-node: KubernetesObjectApi, Watch and typed APIs.

import { get, type RequestOptions } from 'node:https'
import { json } from 'node:stream/consumers'
import type { JsonObject } from '../../kit/network/json-object.js'
import {
  type AppsV1Api,
  type ClientNode,
  type CoreV1Api,
  importClientNode,
  type KubeConfig,
  type ObjectApi,
} from '../obtain-client-node.js'
import { bookmarkSeconds, type Kind, pathOf, type ScenarioRunner, type Step, type StepResult, tableAccept, tableOf } from './scenario.js'

const mediaTypes = {
  json: 'application/json-patch+json',
  merge: 'application/merge-patch+json',
  strategic: 'application/strategic-merge-patch+json',
}

interface PatchingApi extends ObjectApi {
  patch(object: unknown, pretty?: string, dryRun?: string, fieldManager?: string, force?: boolean, mediaType?: string): Promise<JsonObject>
  create(object: unknown, pretty?: string, dryRun?: string): Promise<JsonObject>
  list(apiVersion: string, kind: string, namespace: string, ...rest: readonly (string | number | undefined)[]): Promise<JsonObject>
}

export class ClientNodeRunner implements ScenarioRunner {
  readonly name = '@kubernetes/client-node'
  readonly #library: ClientNode
  readonly #configuration: KubeConfig
  readonly #file: string
  readonly #api: PatchingApi
  readonly #core: CoreV1Api
  readonly #apps: AppsV1Api

  private constructor(library: ClientNode, configuration: KubeConfig, file: string) {
    this.#library = library
    this.#file = file
    this.#core = configuration.makeApiClient(library.CoreV1Api)
    this.#apps = configuration.makeApiClient(library.AppsV1Api)
    this.#configuration = configuration
    this.#api = library.KubernetesObjectApi.makeApiClient(configuration) as PatchingApi
  }

  static async open(path: string, configuration: string): Promise<ClientNodeRunner> {
    const library = await importClientNode(path)
    const config = new library.KubeConfig()
    config.loadFromFile(configuration)
    return new ClientNodeRunner(library, config, configuration)
  }

  async perform(step: Step, namespace: string): Promise<StepResult> {
    try {
      return await this.#perform(step, namespace)
    } catch (error) {
      const { body, statusCode } = error as { readonly body?: unknown; readonly statusCode?: number }
      // The watch of the library reports the status code only.
      if (statusCode === 410) return { refused: 'Expired' }
      if (body === undefined) throw error
      const { reason } = (typeof body === 'string' ? JSON.parse(body) : body) as { readonly reason: string }
      return { refused: reason }
    }
  }

  async close(): Promise<void> {}

  async #perform(step: Step, namespace: string): Promise<StepResult> {
    const api = this.#api
    switch (step.op) {
      case 'create':
        return { object: await api.create(within(step.object, namespace), undefined, step.dryRun === true ? 'All' : undefined) }
      case 'get':
        return { object: await api.read(referenceTo(step.ref, namespace)) }
      case 'list': {
        const { apiVersion, kind } = step.ref
        const names: string[] = []
        let next: string | undefined
        do {
          const rest = [undefined, undefined, undefined, step.fieldSelector, step.selector, step.limit, next]
          const { items, metadata } = await api.list(apiVersion, kind, namespace, ...rest)
          names.push(...items.map((item) => item.metadata.name))
          // Typed lists call the field _continue, lists of other kinds call it continue.
          const { _continue: typedToken, continue: untypedToken } = metadata as { readonly _continue?: string; readonly continue?: string }
          next = typedToken ?? untypedToken
        } while (next !== undefined && next !== '')
        return { names }
      }
      case 'update':
        return { object: await api.replace({ ...(await api.read(referenceTo(step.ref, namespace))), ...step.fields }) }
      case 'staleUpdate': {
        const reference = referenceTo(step.ref, namespace)
        const read = await api.read(reference)
        await this.#patch({ ...reference, metadata: { ...reference.metadata, labels: { touched: 'yes' } } }, 'merge')
        return { object: await api.replace({ ...read, ...step.fields }) }
      }
      case 'patch':
        return { object: await this.#patchAny(step, namespace) }
      case 'apply': {
        const type = this.#library.PatchStrategy.ServerSideApply
        return { object: await api.patch(within(step.object, namespace), undefined, undefined, step.manager, step.force, type) }
      }
      case 'delete':
        await api.delete(referenceTo(step.ref, namespace))
        return { done: true }
      case 'deleteSelected':
        await this.#core.deleteCollectionNamespacedConfigMap({ namespace, labelSelector: step.selector })
        return { done: true }
      case 'scale': {
        const { name } = step.ref
        const scale = await this.#apps.readNamespacedDeploymentScale({ name, namespace })
        await this.#apps.replaceNamespacedDeploymentScale({ name, namespace, body: { ...scale, spec: { replicas: step.replicas } } })
        return { done: true }
      }
      case 'updateStatus': {
        const read = await api.read(referenceTo(step.ref, namespace))
        const body = { ...read, status: step.status }
        return { object: await this.#apps.replaceNamespacedDeploymentStatus({ name: step.ref.name, namespace, body }) }
      }
      case 'as': {
        const other = new this.#library.KubeConfig()
        other.loadFromFile(this.#file)
        for (const user of other.users) Object.assign(user, { impersonateUser: step.user })
        return new ClientNodeRunner(this.#library, other, this.#file).perform(step.step, namespace)
      }
      case 'watch':
        return this.#watch(step, namespace)
      case 'resume':
        return this.#resume(step, namespace)
      case 'watchFrom':
        return this.#follow(step.ref, namespace, { resourceVersion: step.resourceVersion }, () => true)
      case 'table':
        return tableOf(await this.#asTable(`${pathOf(step.ref, namespace)}?labelSelector=${encodeURIComponent(step.selector)}`))
    }
  }

  /** The library has no tables: sends a request with the TLS and credentials of the kubeconfig. */
  async #asTable(path: string): Promise<unknown> {
    const options: RequestOptions = {}
    await this.#configuration.applyToHTTPSOptions(options)
    options.headers = { ...options.headers, accept: tableAccept }
    const { server } = this.#configuration.getCurrentCluster()
    return new Promise((resolve, reject) =>
      get(`${server}${path}`, options, (response) => json(response).then(resolve, reject)).once('error', reject),
    )
  }

  async #resume({ ref, selector, before, later }: Extract<Step, { op: 'resume' }>, namespace: string): Promise<StepResult> {
    const { metadata } = await this.#core.listNamespacedConfigMap({ namespace })
    const versions: string[] = []
    for (const step of before) await this.perform(step, namespace)
    const query = { labelSelector: selector, resourceVersion: metadata.resourceVersion }
    const withBookmarks = { ...query, allowWatchBookmarks: true, timeoutSeconds: String(bookmarkSeconds) }
    const begun = await this.#follow(ref, namespace, withBookmarks, (type, version) => versions.push(version) > 0 && type === 'BOOKMARK')
    for (const step of later) await this.perform(step, namespace)
    let left = later.length
    const rest = await this.#follow(ref, namespace, { ...query, resourceVersion: versions.at(-1) ?? '' }, () => --left === 0)
    return { events: [...begun.events, ...rest.events] }
  }

  /** Watches until `isLast` returns true; throws if the server rejects the watch. */
  #follow(
    ref: Kind,
    namespace: string,
    query: Readonly<Record<string, string | boolean>>,
    isLast: (type: string, resourceVersion: string) => boolean,
  ): Promise<{ readonly events: readonly string[] }> {
    return new Promise((resolve, reject) => {
      const events: string[] = []
      const watching = new this.#library.Watch(this.#configuration).watch(
        pathOf(ref, namespace),
        query,
        (type, { metadata }) => {
          events.push(`${type} ${metadata.name ?? ''}`)
          if (!isLast(type, metadata.resourceVersion)) return
          resolve({ events })
          watching.then((controller) => controller.abort()).catch(reject)
        },
        (error) => reject(error ?? new Error(`the watch ended after ${events.join(', ')}`)),
      )
      watching.catch(reject)
    })
  }

  #patch(object: unknown, type: keyof typeof mediaTypes): Promise<JsonObject> {
    return this.#api.patch(object, undefined, undefined, undefined, undefined, mediaTypes[type])
  }

  /** KubernetesObjectApi only sends patches that are objects; JSON patches use the typed API. */
  #patchAny({ ref, type, patch }: Extract<Step, { op: 'patch' }>, namespace: string): Promise<JsonObject> {
    const reference = referenceTo(ref, namespace)
    if (type !== 'json') {
      const { metadata, ...rest } = patch as { readonly metadata?: object }
      return this.#patch({ ...reference, ...rest, metadata: { ...metadata, ...reference.metadata } }, type)
    }
    return this.#apps.patchNamespacedDeployment(
      { name: ref.name, namespace, body: patch },
      this.#library.setHeaderOptions('Content-Type', mediaTypes.json),
    )
  }

  async #watch({ selector, during }: Extract<Step, { op: 'watch' }>, namespace: string): Promise<StepResult> {
    const { metadata } = await this.#core.listNamespacedConfigMap({ namespace })
    const events: string[] = []
    let finish: () => void = () => undefined
    const all = new Promise<void>((resolve) => {
      finish = resolve
    })
    const watching = await new this.#library.Watch(this.#configuration).watch(
      `/api/v1/namespaces/${namespace}/configmaps`,
      { labelSelector: selector, resourceVersion: metadata.resourceVersion },
      (type, object) => {
        events.push(`${type} ${object.metadata.name}`)
        if (events.length === during.length) finish()
      },
      () => undefined,
    )
    for (const step of during) await this.perform(step, namespace)
    await all
    watching.abort()
    return { events }
  }
}

type ObjectReference = {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: { readonly name: string; readonly namespace: string }
}

const referenceTo = ({ apiVersion, kind, name }: Extract<Step, { op: 'get' }>['ref'], namespace: string): ObjectReference => ({
  apiVersion,
  kind,
  metadata: { name, namespace },
})

const within = (object: Readonly<Record<string, unknown>>, namespace: string): object => ({
  ...object,
  metadata: { ...(object['metadata'] as object), namespace },
})
