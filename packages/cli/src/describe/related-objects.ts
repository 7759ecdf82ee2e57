// Lists related objects for descriptions, at most 5000; undefined if the server responds with 403 or 404.

import { StatusError } from '@cluster-apiserver/client/errors.js'
import type { ApiObject, DynamicObject } from '@cluster-apiserver/client/objects/objects.js'
import type { SelectOptions } from '@cluster-apiserver/client/requests/request-options.js'
import type { Session } from '../command-line/session.js'

export class DescribeContext {
  private readonly session: Session

  constructor(session: Session) {
    this.session = session
  }

  async label(name: string): Promise<string> {
    return (await this.session.resources.identity()).label(name)
  }

  async prefixed(name: string): Promise<string> {
    return (await this.session.resources.identity()).prefixed(name)
  }

  async list<T extends ApiObject>(
    resourceName: string,
    namespace: string | undefined,
    options: SelectOptions = {},
  ): Promise<readonly T[] | undefined> {
    try {
      const found: T[] = []
      for await (const item of this.session.client
        .collection<DynamicObject>(await this.session.resources.find(resourceName), namespace)
        .items(options)) {
        found.push(item as unknown as T)
        if (found.length >= maxListed) break
      }
      return found
    } catch (thrown) {
      if (isForbiddenOrMissing(thrown)) return undefined
      throw thrown
    }
  }
}

const maxListed = 5000

const isForbiddenOrMissing = (thrown: unknown): boolean => thrown instanceof StatusError && (thrown.code === 403 || thrown.code === 404)
