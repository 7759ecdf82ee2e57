// The version of this package, its commit, and the version of Node.js.

import { readFileSync } from 'node:fs'

/** Set by scripts/bundle.mjs; undefined without a git clone. */
declare const BUILD_INFO: { readonly commit: string } | undefined

export const versionLine = (): string =>
  `cluster-apiserver ${packageVersion()} (commit ${typeof BUILD_INFO === 'undefined' ? 'unknown' : BUILD_INFO.commit}, Node.js ${process.version})`

/** Version in package.json; `0.0.0` if the file is missing. */
export function packageVersion(): string {
  try {
    const text = readFileSync(new URL('../../package.json', import.meta.url), 'utf8')
    return (JSON.parse(text) as { readonly version?: string }).version ?? '0.0.0'
  } catch {
    return '0.0.0'
  }
}
