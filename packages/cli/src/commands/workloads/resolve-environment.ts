// Values of environment variables that refer to ConfigMaps, Secrets, fields of the pod, and resources of containers (`set env --list --resolve`).

import { own } from '@cluster-apiserver/api/base/own-property.js'
import { sortTexts } from '@cluster-apiserver/api/base/text-order.js'
import type { DynamicObject } from '@cluster-apiserver/client/objects/objects.js'
import { CommandError } from '../../command-line/errors.js'
import type { Session } from '../../command-line/session.js'
import { parseQuantity } from '../../output/quantities.js'
import type { EnvSource } from './environment.js'

type Texts = { readonly [key: string]: string }

export interface EnvContainer {
  readonly name: string
  readonly resources?: { readonly limits?: Texts; readonly requests?: Texts }
}

/** Reads each ConfigMap and Secret once. */
export class EnvResolver {
  private readonly session: Session
  private readonly read = new Map<string, Promise<Texts>>()

  constructor(session: Session) {
    this.session = session
  }

  /** Throws if the value cannot be found. */
  async valueOf(
    { configMapKeyRef, secretKeyRef, fieldRef, resourceFieldRef }: EnvSource,
    object: DynamicObject,
    container: EnvContainer,
  ): Promise<string> {
    if (secretKeyRef !== undefined) {
      const { name = '', key = '' } = secretKeyRef
      const value = own<string>(await this.dataOf('secrets', name, object), key)
      if (value === undefined) throw new CommandError(`key ${key} not found in secret ${name}`)
      return Buffer.from(value, 'base64').toString('utf8')
    }
    if (configMapKeyRef !== undefined) {
      const { name = '', key = '' } = configMapKeyRef
      const value = own<string>(await this.dataOf('configmaps', name, object), key)
      if (value === undefined) throw new CommandError(`key ${key} not found in config map ${name}`)
      return value
    }
    if (fieldRef !== undefined) return fieldValue(object, fieldRef.fieldPath ?? '')
    if (resourceFieldRef !== undefined) return resourceValue(container, resourceFieldRef.resource ?? '', resourceFieldRef.divisor)
    throw new CommandError('invalid valueFrom')
  }

  private dataOf(resource: 'configmaps' | 'secrets', name: string, { metadata }: DynamicObject): Promise<Texts> {
    const key = `${resource}/${name}`
    const reading = this.read.get(key) ?? this.fetchData(resource, name, metadata?.namespace ?? this.session.namespace)
    this.read.set(key, reading)
    return reading
  }

  private async fetchData(resource: string, name: string, namespace: string): Promise<Texts> {
    const collection = this.session.client.collection(await this.session.resources.find(resource), namespace)
    return ((await collection.get(name))['data'] ?? {}) as Texts
  }
}

function fieldValue({ metadata = {} }: DynamicObject, path: string): string {
  const [, member = '', subscript] = /^metadata\.(annotations|labels)\['(.*)'\]$/.exec(path) ?? []
  if (member !== '') return own<string>((metadata[member as 'labels'] ?? {}) as Texts, subscript ?? '') ?? ''
  if (path === 'metadata.labels' || path === 'metadata.annotations')
    return sortTexts(
      Object.entries(metadata[path.slice('metadata.'.length) as 'labels'] ?? {}).map(([name, value]) => `${name}=${JSON.stringify(value)}`),
    ).join('\n')
  if (path === 'metadata.name') return metadata.name ?? ''
  if (path === 'metadata.namespace') return metadata.namespace ?? ''
  if (path === 'metadata.uid') return metadata.uid ?? ''
  throw new CommandError(`unsupported fieldPath: ${path}`)
}

function resourceValue({ resources = {} }: EnvContainer, resource: string, divisor: string | number = 1): string {
  const [, kind = '', name = ''] = /^(limits|requests)\.(cpu|memory|ephemeral-storage)$/.exec(resource) ?? []
  if (kind === '') throw new CommandError(`unsupported container resource : ${resource}`)
  const unit = parseQuantity(divisor) || 1
  return String(Math.ceil(Number((parseQuantity(resources[kind as 'limits']?.[name] ?? '0') / unit).toFixed(6))))
}
