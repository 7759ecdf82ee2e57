// What a description may ask for beside the object itself. What we may not see, or what is not served, is left out of it.

import { StatusError } from '../../client/errors.js'
import type { ApiObject, DynamicObject } from '../../client/objects.js'
import type { SelectOptions } from '../../client/query.js'
import type { Session } from '../session.js'

export class DescribeContext {
  private readonly session: Session

  constructor(session: Session) {
    this.session = session
  }

  /** A name of the server's vocabulary. */
  async label(name: string): Promise<string> {
    return (await this.session.resources.identity()).label(name)
  }

  /** A name that begins with the brand's short form. */
  async prefixed(name: string): Promise<string> {
    return (await this.session.resources.identity()).prefixed(name)
  }

  /** At most so many as anybody wants to read. Undefined where they cannot be seen. */
  async list<T extends ApiObject>(
    words: string,
    namespace: string | undefined,
    options: SelectOptions = {},
  ): Promise<readonly T[] | undefined> {
    try {
      const found: T[] = []
      for await (const item of this.session.client
        .collection<DynamicObject>(await this.session.resources.find(words), namespace)
        .items(options)) {
        found.push(item as unknown as T)
        if (found.length >= mostListed) break
      }
      return found
    } catch (thrown) {
      if (isInvisible(thrown)) return undefined
      throw thrown
    }
  }
}

const mostListed = 5000

const isInvisible = (thrown: unknown): boolean => thrown instanceof StatusError && (thrown.code === 403 || thrown.code === 404)
