// Records which large objects are decoded whole, for tests of code that must not do so.

import type { TestContext } from 'node:test'
import { StoredObject } from './stored-object.js'

/** The keys of those, called `large`, that are decoded from now on. */
export function decodedWhole({ mock }: TestContext): readonly string[] {
  const keys: string[] = []
  const { decode } = StoredObject.prototype
  mock.method(StoredObject.prototype, 'decode', function (this: StoredObject, ...args: Parameters<typeof decode>) {
    if (this.key.endsWith('large') && this.size > 100_000) keys.push(this.key)
    return decode.apply(this, args)
  })
  return keys
}
