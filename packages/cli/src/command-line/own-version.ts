// The version of this package; the file is where it is both from the modules and from the bundle.

import { readFileSync } from 'node:fs'

export const ownVersion = (): string =>
  (JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as { readonly version: string }).version
