// Version of this package. The module must lie two folders below package.json, like the bundle.

import { readFileSync } from 'node:fs'

export const ownVersion = (): string =>
  (JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as { readonly version: string }).version
