// CEL functions by name. They check argument types, because `dyn` defers type checks to evaluation.

import { Uint } from '../values/uint.js'
import { CelUrl, parseUrl, requestUrlProblem } from '../values/url.js'
import {
  CelError,
  CelList,
  CelMap,
  compare,
  Duration,
  isEqual,
  noMethod,
  noOverloadOf,
  noSuchOverload,
  sizeOf,
  TypeValue,
  typeName,
  type Value,
  ValueList,
  ValueMap,
} from '../values/values.js'
import { add, comparison, divide, modulo, multiply, negate, not, subtract } from './arithmetic.js'
import { toBool, toBytes, toDouble, toDuration, toInt, toText, toTimestamp, toUint } from './conversions.js'
import * as text from './strings.js'
import { indexOfText } from './text-search.js'
import { partOf, timeFunctions } from './times.js'

/** Arguments are never errors. `elementType`: checked element type of a list receiver. */
export type CelFunction = (args: readonly Value[], elementType: string) => Value

const binary =
  (operate: (a: Value, b: Value) => Value): CelFunction =>
  ([a, b]) =>
    operate(a as Value, b as Value)

const unary =
  (operate: (a: Value) => Value): CelFunction =>
  ([a]) =>
    operate(a as Value)

const overloadError = (name: string, args: readonly Value[]): CelError => noOverloadOf(`${name}(${args.map(typeName).join(', ')})`)

type ArgumentType = 'string' | 'int' | 'list' | 'any'

const hasType = (value: Value | undefined, type: ArgumentType): boolean => {
  if (type === 'any') return true
  if (type === 'string') return typeof value === 'string'
  return type === 'int' ? typeof value === 'bigint' : value instanceof CelList
}

const overloaded =
  (name: string, ...overloads: readonly [types: readonly ArgumentType[], operate: (...args: never[]) => Value][]): CelFunction =>
  (args) => {
    for (const [types, operate] of overloads) {
      if (types.length === args.length && types.every((type, i) => hasType(args[i], type))) {
        return (operate as (...args: readonly Value[]) => Value)(...args)
      }
    }
    return overloadError(name, args)
  }

const onList =
  (name: string, operate: (list: CelList, elementType: string) => Value): CelFunction =>
  (args, elementType) =>
    args[0] instanceof CelList ? operate(args[0], elementType) : overloadError(name, args)

const onText =
  (name: string, operate: (text: string, part: string) => Value): CelFunction =>
  ([a, b]) => {
    if (typeof a !== 'string') return noMethod(a as Value, name)
    return typeof b === 'string' ? operate(a, b) : noSuchOverload
  }

const onUrl =
  (name: string, operate: (url: CelUrl) => Value): CelFunction =>
  (args) =>
    args[0] instanceof CelUrl ? operate(args[0]) : overloadError(name, args)

function contains(item: Value, container: Value): Value {
  if (container instanceof CelList) return container.contains(item)
  if (!(container instanceof CelMap)) return noSuchOverload
  const found = container.find(item)
  return found instanceof CelError ? found : found !== undefined
}

function url(text: string): Value {
  const parsed = parseUrl(text)
  return typeof parsed === 'string' ? new CelError(`URL parse error during conversion from string: ${parsed}`) : parsed
}

const queryOf = (parsed: CelUrl): Value =>
  new ValueMap(new Map([...parsed.query()].map(([name, values]) => [`"${name}`, [name, new ValueList(values)] as const])))

const comparable: ReadonlySet<string> = new Set(
  'int uint double bool google.protobuf.Duration google.protobuf.Timestamp string bytes'.split(' '),
)
const summable: ReadonlySet<string> = new Set(['int', 'uint', 'double', 'google.protobuf.Duration'])

/** For lists whose element type is unknown, checks the type of the first item. */
const onItemsOf = (name: string, types: ReadonlySet<string>, operate: (list: CelList, elementType: string) => Value): CelFunction =>
  onList(name, (list, elementType) => {
    const first = list.size === 0 ? undefined : list.at(0)
    const isDynamic = elementType === '' || elementType === 'dyn'
    if (isDynamic && first !== undefined && !(first instanceof CelError) && !types.has(typeName(first)))
      return noOverloadOf(`${name}(list)`)
    return operate(list, elementType)
  })

export const constantMatches = binary(text.matchesConstant)

export const functions: { readonly [name: string]: CelFunction } = {
  '!_': unary(not),
  '-_': unary(negate),
  '_+_': binary(add),
  '_-_': binary(subtract),
  '_*_': binary(multiply),
  '_/_': binary(divide),
  '_%_': binary(modulo),
  '_<_': binary(comparison('_<_', (order) => order < 0)),
  '_<=_': binary(comparison('_<=_', (order) => order <= 0)),
  '_>_': binary(comparison('_>_', (order) => order > 0)),
  '_>=_': binary(comparison('_>=_', (order) => order >= 0)),
  '_==_': binary(isEqual),
  // Values whose comparison fails are unequal.
  '_!=_': binary((a, b) => isEqual(a, b) !== true),
  '@in': binary(contains),
  size: unary((value) => {
    const size = sizeOf(value)
    return size === undefined ? noMethod(value, 'size') : BigInt(size)
  }),
  type: unary((value) => new TypeValue(typeName(value))),
  dyn: unary((value) => value),
  int: unary(toInt),
  uint: unary(toUint),
  double: unary(toDouble),
  bool: unary(toBool),
  string: unary(toText),
  bytes: unary(toBytes),
  timestamp: unary(toTimestamp),
  duration: unary(toDuration),
  contains: onText('contains', (a, b) => indexOfText(a, b) !== -1),
  startsWith: onText('startsWith', (a, b) => a.startsWith(b)),
  endsWith: onText('endsWith', (a, b) => a.endsWith(b)),
  matches: binary(text.matches),
  ...Object.fromEntries(timeFunctions.map((name): [string, CelFunction] => [name, ([value, zone]) => partOf(name, value as Value, zone)])),
  charAt: overloaded('charAt', [['string', 'int'], text.charAt]),
  lowerAscii: overloaded('lowerAscii', [['string'], text.lowerAscii]),
  upperAscii: overloaded('upperAscii', [['string'], text.upperAscii]),
  trim: overloaded('trim', [['string'], text.trim]),
  replace: overloaded('replace', [['string', 'string', 'string'], text.replace], [['string', 'string', 'string', 'int'], text.replace]),
  split: overloaded('split', [['string', 'string'], text.split], [['string', 'string', 'int'], text.split]),
  substring: overloaded('substring', [['string', 'int'], text.substring], [['string', 'int', 'int'], text.substring]),
  join: overloaded('join', [['list'], text.join], [['list', 'string'], text.join]),
  indexOf: overloaded(
    'indexOf',
    [['string', 'string'], text.indexOf],
    [['string', 'string', 'int'], text.indexOf],
    [['list', 'any'], indexIn],
  ),
  lastIndexOf: overloaded(
    'lastIndexOf',
    [['string', 'string'], text.lastIndexOf],
    [['string', 'string', 'int'], text.lastIndexOf],
    [['list', 'any'], lastIndexIn],
  ),
  isSorted: onItemsOf('isSorted', comparable, isSorted),
  sum: onItemsOf('sum', summable, sum),
  min: onItemsOf('min', comparable, (list) => extreme(list, 'min')),
  max: onItemsOf('max', comparable, (list) => extreme(list, 'max')),
  find: overloaded('find', [['string', 'string'], text.find]),
  findAll: overloaded('findAll', [['string', 'string'], text.findAll], [['string', 'string', 'int'], text.findAll]),
  url: overloaded('url', [['string'], url]),
  isURL: overloaded('isURL', [['string'], (candidate: string) => requestUrlProblem(candidate) === undefined]),
  getScheme: onUrl('getScheme', (parsed) => parsed.scheme),
  getHost: onUrl('getHost', (parsed) => parsed.host),
  getHostname: onUrl('getHostname', (parsed) => parsed.hostname),
  getPort: onUrl('getPort', (parsed) => parsed.port),
  getEscapedPath: onUrl('getEscapedPath', (parsed) => parsed.escapedPath),
  getQuery: onUrl('getQuery', queryOf),
}

/** Neighbours of different types count as sorted, as in kube-apiserver. */
function isSorted(list: CelList): Value {
  let previous: Value | undefined
  for (let i = 0; i < list.size; i++) {
    const item = list.at(i)
    if (item instanceof CelError) return item
    if (!comparable.has(typeName(item))) return noSuchOverload
    if (previous !== undefined && (compare(previous, item) ?? 0) > 0) return false
    previous = item
  }
  return true
}

const zeros: { readonly [type: string]: Value } = { int: 0n, uint: new Uint(0n), double: 0, duration: new Duration(0n) }

function sum(list: CelList, elementType: string): Value {
  const zero = zeros[elementType]
  let total = zero ?? (list.size === 0 ? 0n : list.at(0))
  for (let i = zero === undefined ? 1 : 0; i < list.size && !(total instanceof CelError); i++) {
    const item = list.at(i)
    total = item instanceof CelError ? item : add(total, item)
  }
  return total
}

function extreme(list: CelList, name: 'min' | 'max'): Value {
  let best: Value | undefined
  for (let i = 0; i < list.size; i++) {
    const item = list.at(i)
    if (item instanceof CelError) return item
    if (!comparable.has(typeName(item))) return noSuchOverload
    // Items of another type are skipped, as in kube-apiserver.
    const order = best === undefined ? undefined : (compare(best, item) ?? 0)
    if (order === undefined || (name === 'min' ? order > 0 : order < 0)) best = item
  }
  return best ?? new CelError(`${name} called on empty list`)
}

function indexIn(list: CelList, value: Value): Value {
  for (let i = 0; i < list.size; i++) if (isEqual(list.at(i), value) === true) return BigInt(i)
  return -1n
}

function lastIndexIn(list: CelList, value: Value): Value {
  for (let i = list.size - 1; i >= 0; i--) if (isEqual(list.at(i), value) === true) return BigInt(i)
  return -1n
}
