#!/usr/bin/env node
// Transcribes the catalogue's types into schema files, so that no field, number or marker is ever typed by hand.
//   node scripts/generate-schemas.mjs [../shared/catalogue]   (then: npm run format)
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

const catalogue = process.argv[2] ?? '../shared/catalogue'
const scalars = {
  string: 'string',
  boolean: 'boolean',
  int32: 'int32',
  int64: 'int64',
  double: 'number',
  bytes: 'bytes',
  time: 'time',
  microTime: 'microTime',
  duration: 'duration',
  quantity: 'quantity',
  intOrString: 'intOrString',
}
const kept = {
  rawExtension: 'raw',
  any: 'json',
  fieldsV1: 'fields',
  Unknown: 'unknown',
  JSON: 'json',
  JSONSchemaPropsOrArray: 'schemaOrArray',
  JSONSchemaPropsOrBool: 'schemaOrBool',
  JSONSchemaPropsOrStringArray: 'schemaOrStrings',
}

const files = new Map()
for (const name of readdirSync(catalogue)) {
  if (!/_v\d\w*\.json$/.test(name)) continue
  const data = JSON.parse(readFileSync(join(catalogue, name), 'utf8'))
  files.set(name.replace(/\.json$/, ''), data)
}

const folder = (group) => (group === '' ? 'core' : group.replace(/\.cluster\.io$/, '').replaceAll('.', '-'))
function pathOf(file) {
  if (file === 'meta_v1') return 'src/api/meta.schema.ts'
  const { group, version } = files.get(file)
  return `src/resources/${folder(group ?? '')}/${version}.schema.ts`
}
/** Named list types are a message of their own in Protobuf: the verbs of a resource, the values of `extra`. */
const isWrapped = (f) => /^(?:Verbs|map<string, ExtraValue>)$/.test(f?.protoType ?? '')
const camel = (name) => name.replace(/^([A-Z]+)(?=[A-Z][a-z]|$|\d)/, (m) => m.toLowerCase()).replace(/^[A-Z]/, (m) => m.toLowerCase())
const words = (value) => JSON.stringify(value).replace(/"/g, "'")
const literal = (value) =>
  typeof value === 'string' ? words(value) : Array.isArray(value) ? `[${value.map(literal).join(', ')}]` : JSON.stringify(value)

/** The package of a type without the identity in front; one package's name carries the brand, which the identity adds again. */
const homeOf = (schema) => schema?.replace(/^io\.cluster\./, '').replace(/^kube-/, '')
/** How the list of a kind differs from what lists are. */
function inListOf(list) {
  const items = list?.fields.find((f) => f.name === 'items')
  if (!items) return []
  return [
    ...(items.required ? [] : ['optional: true']),
    ...(items.listType ? [`listType: '${items.listType}'`] : []),
    ...(items.listMapKeys ? [`keys: ${literal(items.listMapKeys)}`] : []),
  ]
}
const unionText = (union) => `{ discriminator: '${union.discriminator}', values: ${words(union['fields-to-discriminateBy'])} }`

function transcribe(file) {
  const { types, schemaPrefix } = files.get(file)
  const imports = new Map()
  const done = new Set()
  const doing = new Set()
  const recursive = new Set()
  const out = []

  function keptNode(form) {
    return form.startsWith('schema') ? `s.any('${form}', s.lazy(() => jsonSchemaProps))` : `s.any('${form}')`
  }

  function named(ref) {
    if (scalars[ref]) return `s.${scalars[ref]}`
    if (kept[ref]) return keptNode(kept[ref])
    const dot = ref.lastIndexOf('.')
    const [home, name] = dot < 0 ? [file, ref] : [ref.slice(0, dot) === 'meta' ? 'meta_v1' : ref.slice(0, dot), ref.slice(dot + 1)]
    const type = files.get(home)?.types[name]
    if (!type) throw new Error(`${file}: no type ${ref}`)
    if (type.jsonForm === '[]string') return 's.list(s.string, { protoWrapped: true })'
    if (kept[name]) return keptNode(kept[name])
    if (type.jsonForm && name !== 'JSON') {
      const scalar = { Time: 'time', MicroTime: 'microTime', Duration: 'duration', Quantity: 'quantity', IntOrString: 'intOrString' }[name]
      if (scalar) return `s.${scalar}`
      if (name === 'RawExtension') return "s.any('raw')"
      if (name === 'FieldsV1') return "s.any('fields')"
      throw new Error(`${file}: ${ref} has the form ${type.jsonForm}`)
    }
    if (home !== file) {
      const alias = home === 'meta_v1' ? 'meta' : folder(files.get(home).group ?? '').replace(/-(\w)/g, (_, c) => c.toUpperCase())
      imports.set(alias, home)
      return `${alias}.${camel(name)}`
    }
    if (doing.has(name)) {
      recursive.add(name)
      return `s.lazy(() => ${camel(name)})`
    }
    emit(name)
    return camel(name)
  }

  function node(ref, f, wrapped = isWrapped(f)) {
    if (ref.startsWith('[]')) {
      const options = []
      if (wrapped) options.push('protoWrapped: true')
      if (f?.listType) options.push(`listType: '${f.listType}'`)
      if (f?.listMapKeys) options.push(`keys: ${literal(f.listMapKeys)}`)
      if (f?.patchStrategy) options.push(`patchStrategy: '${f.patchStrategy}'`)
      if (f?.patchMergeKey) options.push(`patchMergeKey: '${f.patchMergeKey}'`)
      return `s.list(${node(ref.slice(2))}${options.length ? `, { ${options.join(', ')} }` : ''})`
    }
    if (ref.startsWith('map[string]'))
      return `s.map(${node(ref.slice(11), undefined, wrapped)}${f?.mapType ? `, { mapType: '${f.mapType}' }` : ''})`
    return named(ref)
  }

  function emit(name) {
    if (done.has(name)) return
    const type = types[name]
    doing.add(name)
    const lines = []
    let typeMeta = false
    for (const f of type.fields ?? []) {
      if (f.protoOnly) continue
      if (f.inline && f.jsonOnly) {
        typeMeta = true
        continue
      }
      if (f.inline) {
        lines.push(`  ...s.embed(${f.proto ?? 0}, ${node(f.type)}),`)
        continue
      }
      const options = []
      if (f.protoName) options.push(`protoName: '${f.protoName}'`)
      if (f.pointer) options.push('pointer: true')
      if (f.omitempty === false) options.push('always: true')
      if (f.required) options.push('required: true')
      if ('default' in f) options.push(`default: ${literal(f.default)}`)
      if (f.enum && !f.enumOpen) options.push(`enum: ${literal(f.enum)}`)
      if (f.patchStrategy && !f.type.startsWith('[]')) options.push(`patchStrategy: '${f.patchStrategy}'`)
      if (f.listType && !f.type.startsWith('[]')) options.push(`listType: '${f.listType}'`)
      if (f.patchMergeKey && !f.type.startsWith('[]')) options.push(`patchMergeKey: '${f.patchMergeKey}'`)
      if (f.mapType && !/^(map|\[\])/.test(f.type)) options.push(`mapType: '${f.mapType}'`)
      const tail = options.length ? `, { ${options.join(', ')} }` : ''
      const key = /^[A-Za-z_$][\w$]*$/.test(f.name) ? f.name : `'${f.name}'`
      lines.push(
        f.proto === undefined
          ? `  ${key}: s.jsonField(${node(f.type, f)}${tail}),`
          : `  ${key}: s.field(${f.proto}, ${node(f.type, f)}${tail}),`,
      )
    }
    doing.delete(name)
    done.add(name)
    const options = []
    if (type.mapType) options.push(`mapType: '${type.mapType}'`)
    if (typeMeta) options.push('typeMeta: true')
    if (type.noProto) options.push('noProto: true')
    if (type.unions) options.push(`unions: [${type.unions.map(unionText).join(', ')}]`)
    const inList = inListOf(types[`${name}List`])
    if (inList.length) options.push(`inList: { ${inList.join(', ')} }`)
    const home = type.schema ? `s.structsOf('${homeOf(type.schema).replace(/\.\w+$/, '')}')` : schemaPrefix ? 'struct' : 's.struct'
    const annotation = recursive.has(name) ? ': s.StructNode' : ''
    out.push(
      `export const ${camel(name)}${annotation} = ${home}('${name}', {\n${lines.join('\n')}\n}${options.length ? `, { ${options.join(', ')} }` : ''})\nexport type ${name} = Infer<typeof ${camel(name)}>\n`,
    )
  }

  for (const [name, type] of Object.entries(types)) {
    if (type.jsonForm || !type.fields) continue
    if (/List$/.test(name) && type.gvk) continue // a list is the envelope around its items
    emit(name)
  }
  const at = pathOf(file)
  const up = '../'.repeat(at.split('/').length - 2)
  const text = `// The types of ${at.replace(/^src.(resources.)?/, '').replace('.schema.ts', '')} as the catalogue lists them, transcribed by scripts/generate-schemas.mjs: data, not to be edited.\n\nimport type { Infer } from '${up}schema/infer.js'\nimport * as s from '${up}schema/node.js'\n${[...imports].map(([alias, home]) => `import * as ${alias} from '${up}${pathOf(home).slice(4).replace(/\.ts$/, '.js')}'\n`).join('')}\n${schemaPrefix ? `const struct = s.structsOf('${homeOf(schemaPrefix)}')\n\n` : ''}${out.join('\n')}`
  if (/cluster\.io/.test(text)) console.error(`${at} spells an identity`)
  mkdirSync(dirname(at), { recursive: true })
  writeFileSync(at, text)
}

/** What is served, and what is only sent: reviews and events have a Protobuf form too. */
const isTranscribed = (name, data) =>
  name === 'meta_v1' ||
  (data.served && data.resources?.length) ||
  (name !== 'meta_v1beta1' && Object.values(data.types).some((type) => type.fields?.some((f) => f.proto !== undefined)))
for (const [name, data] of files) if (isTranscribed(name, data)) transcribe(name)
