// Types of the client: a strict program with every kind compiles; published types equal the inferred ones.

import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import { repoRoot } from '../../../test/kit/paths.js'
import { readSourceFiles } from '../../../test/kit/source-files.js'
import { kinds } from '../src/typed/kinds.js'

const folder = mkdtempSync(join(tmpdir(), 'client-types-'))
after(() => rmSync(folder, { recursive: true, force: true }))

const options = {
  target: 'ES2022',
  module: 'NodeNext',
  moduleResolution: 'NodeNext',
  strict: true,
  exactOptionalPropertyTypes: true,
  noUncheckedIndexedAccess: true,
  noEmit: true,
  skipLibCheck: false,
  types: ['node'],
  typeRoots: [join(repoRoot, 'node_modules/@types')],
}

/** Compiler errors of a project with one file that depends on the package. */
async function errorsOf(name: string, text: string, more: object = {}): Promise<readonly string[]> {
  const project = join(folder, name)
  const run = (command: string, args: readonly string[]): Promise<string> =>
    new Promise((resolve) =>
      execFile(command, args, { cwd: repoRoot, maxBuffer: 1 << 26 }, (_, stdout, stderr) => resolve(stdout + stderr)),
    )
  mkdirSync(join(project, 'node_modules'), { recursive: true })
  symlinkSync(repoRoot, join(project, 'node_modules/cluster-apiserver'))
  writeFileSync(join(project, 'package.json'), '{"type":"module"}')
  writeFileSync(join(project, 'tsconfig.json'), JSON.stringify({ compilerOptions: { ...options, ...more }, files: ['main.ts'] }))
  writeFileSync(join(project, 'main.ts'), text)
  const output = await run(process.execPath, [join(repoRoot, 'node_modules/typescript/bin/tsc'), '-p', project])
  return output.split('\n').filter((line) => line.includes('error TS'))
}

type Table = Record<
  string,
  { readonly versions: Record<string, Record<string, { readonly namespaced: boolean; readonly type: { readonly name: string } }>> }
>

const accessors = Object.entries(kinds as unknown as Table).flatMap(([group, { versions }]) =>
  Object.entries(versions).flatMap(([version, entries]) =>
    Object.entries(entries).map(([name, { namespaced, type }]) => ({
      accessor: `client.${group}.${version}.${name}(${namespaced ? "'shop'" : ''})`,
      isReview: type.name === 'ReviewCollection',
    })),
  ),
)

describe('types of the client', () => {
  test('compile for all kinds without skipLibCheck', async () => {
    const uses = accessors.map(({ accessor, isReview }, i) =>
      isReview
        ? `const created${i} = await ${accessor}.create({})\nnames.push(created${i}.kind, created${i}.metadata?.name)`
        : `const read${i} = await ${accessor}.get('a')\nnames.push(read${i}.kind, read${i}.metadata?.labels?.['a'])\nawait ${accessor}.update(read${i})`,
    )
    const program = `import { connect } from 'cluster-apiserver/client'
const client = connect()
const names: (string | undefined)[] = []
${uses.join('\n')}
// @ts-expect-error unknown field
read1.nothing
// @ts-expect-error config maps have no status
client.core.v1.configMaps('shop').status
// @ts-expect-error not a string
await client.core.v1.configMaps('shop').create({ metadata: { name: 1 } })
// @ts-expect-error unknown nested field
await client.apps.v1.deployments('shop').create({ spec: { template: { spec: { containers: [{ nome: 'a' }] } } } })
// @ts-expect-error nodes are cluster-scoped
client.core.v1.nodes('shop')
const prices = await client.core.v1.configMaps('shop').get('prices')
const data: { readonly [key: string]: string } | undefined = prices.data
for await (const event of client.core.v1.pods().watch()) if (event.type === 'ADDED') names.push(event.object.spec?.containers?.[0]?.image)
console.log(names, data)
`
    assert.deepEqual(await errorsOf('all', program), [])
  })

  test('published declarations equal the types inferred from the schemas', async () => {
    const files = readSourceFiles().filter(({ path }) => path.endsWith('.schema.ts'))
    const lines = files.flatMap(({ path, text }, i) => {
      const names = [...text.matchAll(/^export type (\w+) = Infer</gm)].map(([, name = '']) => name)
      return [
        `import type * as source${i} from '${repoRoot}${path}'`,
        `import type * as published${i} from '${repoRoot}${path.replace('/src/', '/dist/').replace(/\.ts$/, '.js')}'`,
        // JSONSchemaProps is recursive, which inference cannot express.
        ...names
          .filter((name) => name !== 'JSONSchemaProps')
          .map((name) => `check<Full<source${i}.${name}>, Full<published${i}.${name}>>()`),
      ]
    })
    const imports = lines.filter((line) => line.startsWith('import'))
    const checks = lines.filter((line) => !line.startsWith('import'))
    assert.ok(checks.length > 400, `${checks.length} types`)
    const program = `${imports.join('\n')}
type Full<T> = T extends readonly (infer Item)[] ? readonly Full<Item>[] : T extends object ? { [K in keyof T]-?: K extends 'openAPIV3Schema' ? unknown : Full<T[K]> } : T
declare function check<A extends B, B extends C, C = A>(): void
${checks.join('\n')}
`
    const errors = await errorsOf('same', program, {
      skipLibCheck: true,
      allowImportingTsExtensions: true,
      lib: ['ES2023', 'ES2024.String'],
    })
    assert.deepEqual(errors.slice(0, 5), [])
  })
})
