// Every function by its name, over values. Types are looked at here, because `dyn` defers that to run time.

import { indexOfText } from '../text-search.js'
import { CelUrl, parseUrl, refuseUrl } from '../url.js'
import {
  CelError,
  CelList,
  CelMap,
  isEqual,
  noOverloadOf,
  noSuchOverload,
  sizeOf,
  TypeValue,
  typeName,
  type Value,
  ValueList,
  ValueMap,
} from '../values.js'
import { add, comparison, divide, modulo, multiply, negate, not, subtract } from './arithmetic.js'
import { toBool, toBytes, toDouble, toDuration, toInt, toText, toTimestamp, toUint } from './conversions.js'
import { extreme, indexIn, isSorted, lastIndexIn, sum } from './lists.js'
import * as text from './text.js'
import { partOf, timeFunctions } from './times.js'

/** Arguments hold no errors: those have ended the call before. The element type is that of a list as it was checked. */
export type CelFunction = (args: readonly Value[], elementType: string) => Value

const binary =
  (operate: (a: Value, b: Value) => Value): CelFunction =>
  ([a, b]) =>
    operate(a as Value, b as Value)

const unary =
  (operate: (a: Value) => Value): CelFunction =>
  ([a]) =>
    operate(a as Value)

const signature = (name: string, args: readonly Value[]): CelError => noOverloadOf(`${name}(${args.map(typeName).join(', ')})`)

type Shape = 'string' | 'int' | 'list' | 'any'

const hasShape = (value: Value | undefined, shape: Shape): boolean => {
  if (shape === 'any') return true
  if (shape === 'string') return typeof value === 'string'
  return shape === 'int' ? typeof value === 'bigint' : value instanceof CelList
}

/** A function of which some forms exist; values that fit none are told so. */
const forms =
  (name: string, ...all: readonly [shapes: readonly Shape[], operate: (...args: never[]) => Value][]): CelFunction =>
  (args) => {
    for (const [shapes, operate] of all) {
      if (shapes.length === args.length && shapes.every((shape, i) => hasShape(args[i], shape))) {
        return (operate as (...args: readonly Value[]) => Value)(...args)
      }
    }
    return signature(name, args)
  }

const onList =
  (name: string, operate: (list: CelList, elementType: string) => Value): CelFunction =>
  (args, elementType) =>
    args[0] instanceof CelList ? operate(args[0], elementType) : signature(name, args)

const receiver =
  (name: string, operate: (text: string, part: string) => Value): CelFunction =>
  ([a, b]) => {
    if (typeof a !== 'string') return noOverloadOf(name)
    return typeof b === 'string' ? operate(a, b) : noSuchOverload
  }

const ofUrl =
  (name: string, operate: (url: CelUrl) => Value): CelFunction =>
  (args) =>
    args[0] instanceof CelUrl ? operate(args[0]) : signature(name, args)

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
  // Values of which some part is an error are not equal.
  '_!=_': binary((a, b) => isEqual(a, b) !== true),
  '@in': binary(contains),
  size: unary((value) => {
    const size = sizeOf(value)
    return size === undefined ? noOverloadOf('size') : BigInt(size)
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
  contains: receiver('contains', (a, b) => indexOfText(a, b) !== -1),
  startsWith: receiver('startsWith', (a, b) => a.startsWith(b)),
  endsWith: receiver('endsWith', (a, b) => a.endsWith(b)),
  matches: binary(text.matches),
  ...Object.fromEntries(timeFunctions.map((name): [string, CelFunction] => [name, ([value, zone]) => partOf(name, value as Value, zone)])),
  charAt: forms('charAt', [['string', 'int'], text.charAt]),
  lowerAscii: forms('lowerAscii', [['string'], text.lowerAscii]),
  upperAscii: forms('upperAscii', [['string'], text.upperAscii]),
  trim: forms('trim', [['string'], text.trim]),
  replace: forms('replace', [['string', 'string', 'string'], text.replace], [['string', 'string', 'string', 'int'], text.replace]),
  split: forms('split', [['string', 'string'], text.split], [['string', 'string', 'int'], text.split]),
  substring: forms('substring', [['string', 'int'], text.substring], [['string', 'int', 'int'], text.substring]),
  join: forms('join', [['list'], text.join], [['list', 'string'], text.join]),
  indexOf: forms('indexOf', [['string', 'string'], text.indexOf], [['string', 'string', 'int'], text.indexOf], [['list', 'any'], indexIn]),
  lastIndexOf: forms(
    'lastIndexOf',
    [['string', 'string'], text.lastIndexOf],
    [['string', 'string', 'int'], text.lastIndexOf],
    [['list', 'any'], lastIndexIn],
  ),
  isSorted: onList('isSorted', isSorted),
  sum: onList('sum', sum),
  min: onList('min', (list) => extreme(list, 'min')),
  max: onList('max', (list) => extreme(list, 'max')),
  find: forms('find', [['string', 'string'], text.find]),
  findAll: forms('findAll', [['string', 'string'], text.findAll], [['string', 'string', 'int'], text.findAll]),
  url: forms('url', [['string'], url]),
  isURL: forms('isURL', [['string'], (candidate: string) => refuseUrl(candidate) === undefined]),
  getScheme: ofUrl('getScheme', (parsed) => parsed.scheme),
  getHost: ofUrl('getHost', (parsed) => parsed.host),
  getHostname: ofUrl('getHostname', (parsed) => parsed.hostname),
  getPort: ofUrl('getPort', (parsed) => parsed.port),
  getEscapedPath: ofUrl('getEscapedPath', (parsed) => parsed.escapedPath),
  getQuery: ofUrl('getQuery', queryOf),
}
