// Client of one API server: collections of any kind, discovery, and requests to any path.

import { type Identity, type IdentityName, identityOf } from '@cluster-apiserver/api/api/identity.js'
import { type OptionNames, refuseUnknownOptions } from '@cluster-apiserver/api/base/unknown-options.js'
import { Collection, type CollectionSettings, type Session } from './collection.js'
import { Discovery } from './discovery.js'
import { ConfigError } from './errors.js'
import type { ApiObject, DynamicObject } from './objects/objects.js'
import { PodCollection } from './pods/pod-collection.js'
import type { Impersonation } from './requests/impersonation.js'
import { type RequestOptions, requestNames } from './requests/request-options.js'
import { type ApiRequest, apiRequestNames, Requester, type RequesterSettings } from './requests/requester.js'
import type { ResourceRef } from './requests/resource-ref.js'

export interface ClientSettings extends RequesterSettings {
  /** Group names of the server. Default: detected by discovery when first needed. */
  readonly identity?: IdentityName | undefined
  /** Namespace of objects without `metadata.namespace`. Default: `default`. */
  readonly namespace?: string | undefined
}

const findNames: OptionNames<RequestOptions & { readonly namespace?: string }> = { namespace: true, ...requestNames }
export const sharedClientNames: OptionNames<Omit<ClientSettings, 'transport' | 'credentials'>> = {
  identity: true,
  namespace: true,
  impersonate: true,
  onWarning: true,
  retries: true,
  userAgent: true,
  timeoutMs: true,
}
const clientNames: OptionNames<ClientSettings> = { transport: true, credentials: true, ...sharedClientNames }

export interface ServerVersion {
  readonly major: string
  readonly minor: string
  readonly gitVersion: string
  readonly [field: string]: string
}

export class Client implements Session {
  readonly requester: Requester
  readonly served: Discovery
  readonly namespace: string
  private readonly settings: ClientSettings
  private readonly configuredIdentity: Identity | undefined

  constructor(settings: ClientSettings) {
    refuseUnknownOptions('Client', settings, clientNames)
    this.settings = settings
    this.requester = new Requester(settings)
    this.served = new Discovery(this.requester)
    this.namespace = settings.namespace ?? 'default'
    this.configuredIdentity = settings.identity === undefined ? undefined : identityOf(settings.identity)
  }

  async identity(options: RequestOptions = {}): Promise<Identity> {
    return this.configuredIdentity ?? identityOf(await this.served.identity(options))
  }

  /** Returns the collection of a resource in one namespace, or in all if `namespace` is omitted. */
  collection<T extends ApiObject = DynamicObject>(ref: ResourceRef, namespace?: string): Collection<T> {
    return new Collection<T>(this.collectionSettings(ref, namespace))
  }

  /** Finds a resource by plural, singular, short name or kind: `deploy`, `deployments.apps`. */
  async find<T extends ApiObject = DynamicObject>(
    name: string,
    options: RequestOptions & { readonly namespace?: string } = {},
  ): Promise<Collection<T>> {
    const ref = await this.served.find(name, withoutNamespace('find', options))
    if (ref === undefined) throw new ConfigError(`the server doesn't have a resource type ${JSON.stringify(name)}`)
    return this.collection<T>(ref, options.namespace)
  }

  async ofKind<T extends ApiObject = DynamicObject>(
    apiVersion: string,
    kind: string,
    options: RequestOptions & { readonly namespace?: string } = {},
  ): Promise<Collection<T>> {
    const ref = await this.served.ofKind(apiVersion, kind, withoutNamespace('ofKind', options))
    if (ref === undefined)
      throw new ConfigError(`the server does not serve kind ${JSON.stringify(kind)} in version ${JSON.stringify(apiVersion)}`)
    return this.collection<T>(ref, options.namespace)
  }

  /** Returns the collection of an object's kind, in its own namespace or in that of the client. */
  async collectionOf<T extends ApiObject>(object: T, options: RequestOptions = {}): Promise<Collection<T>> {
    const { apiVersion, kind, metadata } = object
    if (apiVersion === undefined || kind === undefined) throw new TypeError('the object has no apiVersion or kind')
    const collection = await this.ofKind<T>(apiVersion, kind, options)
    return collection.ref.namespaced ? collection.in(metadata?.namespace || this.namespace) : collection
  }

  /** Returns the collection of pods, with logs, exec, attach and port-forward. */
  pods(namespace?: string): PodCollection {
    return new PodCollection(
      this.collectionSettings({ group: '', version: 'v1', resource: 'pods', kind: 'Pod', namespaced: true }, namespace),
    )
  }

  async version(options: RequestOptions = {}): Promise<ServerVersion> {
    refuseUnknownOptions('version', options, requestNames)
    return this.requester.json({ ...options, path: '/version' })
  }

  async json<T = unknown>(request: ApiRequest): Promise<T> {
    refuseUnknownOptions('json', request, apiRequestNames)
    return this.requester.json<T>(request)
  }

  async text(request: ApiRequest): Promise<string> {
    refuseUnknownOptions('text', request, apiRequestNames)
    return this.requester.text(request)
  }

  /** Returns a client that impersonates another user over the same connections. */
  as(impersonate: Impersonation | undefined): Client {
    return new Client({ ...this.settings, impersonate })
  }

  close(): void {
    this.settings.transport.close()
  }

  [Symbol.dispose](): void {
    this.close()
  }

  protected collectionSettings(ref: ResourceRef, namespace: string | undefined): CollectionSettings {
    return { session: this, ref, namespace }
  }
}

function withoutNamespace(where: string, options: RequestOptions & { readonly namespace?: string }): RequestOptions {
  refuseUnknownOptions(where, options, findNames)
  const { namespace: _, ...rest } = options
  return rest
}
