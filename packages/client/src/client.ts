// The client of one server: collections of any kind, what the server serves, and requests that have no word of their own.

import { type Identity, type IdentityName, identityOf } from '../api/identity.js'
import { refuseUnknownOptions } from '../base/known-options.js'
import { Collection, type CollectionSettings, type Session } from './collection.js'
import { Discovery } from './discovery.js'
import { ConfigError } from './errors.js'
import type { Impersonation } from './impersonation.js'
import type { ApiObject, DynamicObject } from './objects.js'
import { apiRequestNames, clientNames, findNames, requestNames } from './option-names.js'
import { PodCollection } from './pod-collection.js'
import type { RequestOptions } from './query.js'
import { type ApiRequest, Requester, type RequesterSettings } from './requester.js'
import type { ResourceRef } from './resource-ref.js'

export interface ClientSettings extends RequesterSettings {
  /** Which vocabulary the server speaks; left out: found out when it matters. */
  readonly identity?: IdentityName | undefined
  /** Where objects are that do not say their namespace; by default `default`. */
  readonly namespace?: string | undefined
}

export interface ServerVersion {
  readonly major: string
  readonly minor: string
  readonly gitVersion: string
  readonly [field: string]: string
}

export class Client implements Session {
  readonly requester: Requester
  /** What the server serves. */
  readonly served: Discovery
  readonly namespace: string
  private readonly settings: ClientSettings
  private readonly knownIdentity: Identity | undefined

  constructor(settings: ClientSettings) {
    refuseUnknownOptions('Client', settings, clientNames)
    this.settings = settings
    this.requester = new Requester(settings)
    this.served = new Discovery(this.requester)
    this.namespace = settings.namespace ?? 'default'
    this.knownIdentity = settings.identity === undefined ? undefined : identityOf(settings.identity)
  }

  async identity(options: RequestOptions = {}): Promise<Identity> {
    return this.knownIdentity ?? identityOf(await this.served.identity(options))
  }

  /** The objects of a resource that the caller can name. Left out: all namespaces. */
  collection<T extends ApiObject = DynamicObject>(ref: ResourceRef, namespace?: string): Collection<T> {
    return new Collection<T>(this.place(ref, namespace))
  }

  /** What people type, such as `deploy` or `deployments.apps`. */
  async find<T extends ApiObject = DynamicObject>(
    words: string,
    options: RequestOptions & { readonly namespace?: string } = {},
  ): Promise<Collection<T>> {
    const ref = await this.served.find(words, withoutNamespace('find', options))
    if (ref === undefined) throw new ConfigError(`the server doesn't have a resource type ${JSON.stringify(words)}`)
    return this.collection<T>(ref, options.namespace)
  }

  async ofKind<T extends ApiObject = DynamicObject>(
    apiVersion: string,
    kind: string,
    options: RequestOptions & { readonly namespace?: string } = {},
  ): Promise<Collection<T>> {
    const ref = await this.served.ofKind(apiVersion, kind, withoutNamespace('ofKind', options))
    if (ref === undefined) throw new ConfigError(`the server has no kind ${JSON.stringify(kind)} in version ${JSON.stringify(apiVersion)}`)
    return this.collection<T>(ref, options.namespace)
  }

  /** The collection in which an object belongs: in its own namespace, or in that of the client. */
  async collectionOf<T extends ApiObject>(object: T, options: RequestOptions = {}): Promise<Collection<T>> {
    const { apiVersion, kind, metadata } = object
    if (apiVersion === undefined || kind === undefined) throw new TypeError('the object says no apiVersion and kind')
    const collection = await this.ofKind<T>(apiVersion, kind, options)
    return collection.ref.namespaced ? collection.in(metadata?.namespace || this.namespace) : collection
  }

  /** Pods with what only they have: logs, commands, forwarded ports. */
  pods(namespace?: string): PodCollection {
    return new PodCollection(this.place({ group: '', version: 'v1', resource: 'pods', kind: 'Pod', namespaced: true }, namespace))
  }

  async version(options: RequestOptions = {}): Promise<ServerVersion> {
    refuseUnknownOptions('version', options, requestNames)
    return this.requester.json({ ...options, path: '/version' })
  }

  /** Any request, answered with JSON. */
  async json<T = unknown>(request: ApiRequest): Promise<T> {
    refuseUnknownOptions('json', request, apiRequestNames)
    return this.requester.json<T>(request)
  }

  /** Any request, answered with text. */
  async text(request: ApiRequest): Promise<string> {
    refuseUnknownOptions('text', request, apiRequestNames)
    return this.requester.text(request)
  }

  /** The same server as somebody else. Both share connections. */
  as(impersonate: Impersonation | undefined): Client {
    return new Client({ ...this.settings, impersonate })
  }

  /** Closes all connections. */
  close(): void {
    this.settings.transport.close()
  }

  [Symbol.dispose](): void {
    this.close()
  }

  protected place(ref: ResourceRef, namespace: string | undefined): CollectionSettings {
    return { session: this, ref, namespace }
  }
}

function withoutNamespace(where: string, options: RequestOptions & { readonly namespace?: string }): RequestOptions {
  refuseUnknownOptions(where, options, findNames)
  const { namespace: _, ...rest } = options
  return rest
}
