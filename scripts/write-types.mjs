// Writes the declarations of schema files anew, short: the compiler spells out the type of a schema with everything in it, over and over, which
// takes users' compilers seconds to read. Here each type is written once, under its name. `test/client/types.test.ts` holds both against
// each other.

import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { pathToFileURL } from 'node:url'

const files = readdirSync('src', { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.schema.ts'))

const modules = await Promise.all(
  files.map(async (file) => {
    const source = readFileSync(join('src', file), 'utf8')
    const names = [...source.matchAll(/^export type (\w+) = Infer<typeof (\w+)>$/gm)].map(([, type, value]) => ({ type, value }))
    const values = await import(pathToFileURL(join('dist', file.replace(/\.ts$/, '.js'))).href)
    return { file, names, values }
  }),
)

/** Where the type of a schema node has its name. */
const places = new Map(modules.flatMap(({ file, names, values }) => names.map(({ type, value }) => [values[value], { file, type }])))

function declare({ file, names, values }) {
  const imports = new Map()
  const nameOf = (place) => {
    if (place.file === file) return place.type
    const alias = place.file.replace(/\.schema\.ts$/, '').replaceAll(/[^a-z0-9]+/gi, '_')
    imports.set(alias, place.file)
    return `${alias}.${place.type}`
  }
  const typeOf = (node) => {
    const place = places.get(node)
    return place === undefined ? spell(node) : nameOf(place)
  }
  const key = (name) => (/^[a-z_$][\w$]*$/i.test(name) ? name : JSON.stringify(name))
  /** As `schema/infer.ts` reads it. */
  const spell = (node) => {
    switch (node.type) {
      case 'struct': {
        const fields = Object.entries(node.fields).map(([name, field]) => `  readonly ${key(name)}?: ${typeOf(field.node)}`)
        if (node.typeMeta === true) fields.push('  readonly kind?: string', '  readonly apiVersion?: string')
        if (node.rest !== undefined) fields.push('  readonly [name: string]: unknown')
        return fields.length === 0 ? '{}' : `{\n${fields.join('\n')}\n}`
      }
      case 'list':
        return `readonly ${wrapped(typeOf(node.item))}[]`
      case 'map':
        return `{ readonly [key: string]: ${typeOf(node.value)} }`
      case 'boolean':
        return 'boolean'
      case 'integer':
      case 'number':
        return 'number'
      case 'intOrString':
        return 'number | string'
      case 'any':
      case 'lazy':
        return 'unknown'
      default:
        return 'string'
    }
  }
  const wrapped = (text) => (/^[\w.]+$/.test(text) ? text : `(${text})`)
  const types = names.map(({ type, value }) => `export declare const ${value}: StructNode\nexport type ${type} = ${spell(values[value])}\n`)
  const named = new Set(names.map(({ value }) => value))
  const others = Object.keys(values).filter((name) => !named.has(name))
  if (others.length > 0) throw new Error(`${file}: ${others.join(', ')} have no type`)
  const path = (other) => {
    const way = relative(dirname(file), other).replace(/\.ts$/, '.js')
    return way.startsWith('.') ? way : `./${way}`
  }
  const lines = [...imports].map(([alias, other]) => `import type * as ${alias} from '${path(other)}'\n`)
  return `import type { StructNode } from '${path('schema/node.ts')}'\n${lines.join('')}${types.join('')}`
}

for (const module of modules) writeFileSync(join('dist', module.file.replace(/\.ts$/, '.d.ts')), declare(module))
