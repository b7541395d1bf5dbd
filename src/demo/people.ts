import { seededDice } from '../domain/seeded-dice.js'
import type { TroubledDomain } from './temper.js'

/** Everybody in the demo. The same people every time: what was seen once can be found again. */
export interface Person {
  readonly email: string
  readonly name: string
  readonly timezone: string
  readonly attributes: {
    readonly first_name: string
    readonly city: string
    readonly garden: string
    readonly experience: 'first' | 'some' | 'expert'
    readonly orders: number
    readonly since: string
  }
}

const FIRST_NAMES =
  'Ada Amir Astrid Bruno Chidi Clara Dario Elif Emeka Freya Gita Hana Ibrahim Ines Jonas Kavya Lena Luis Mei Nadia Niko Olu Priya Ravi Saoirse Tariq Uma Viktor Yuki Zofia'
const LAST_NAMES =
  'Alder Brook Costa Dahl Eze Ferreira Gupta Holm Ito Jensen Kimani Lund Moreau Nakamura Okafor Park Quinn Rao Silva Tanaka Usman Vance Weiss Xu Yilmaz Zeller Birch Marsh Field Hill'
const PLACES = [
  ['Lisbon', 'Europe/Lisbon'],
  ['Leeds', 'Europe/London'],
  ['Gothenburg', 'Europe/Stockholm'],
  ['Izmir', 'Europe/Istanbul'],
  ['Nairobi', 'Africa/Nairobi'],
  ['Pune', 'Asia/Kolkata'],
  ['Kyoto', 'Asia/Tokyo'],
  ['Hobart', 'Australia/Hobart'],
  ['Portland', 'America/Los_Angeles'],
  ['Halifax', 'America/Halifax'],
  ['Curitiba', 'America/Sao_Paulo'],
] as const
/** Reserved by RFC 2606: even a mistake could reach nobody. */
const DOMAINS = ['letterbox.example', 'maple.example', 'harbour.example', 'riverside.example', 'postkasten.example']
const GARDENS = ['balcony', 'windowsill', 'allotment', 'backyard']
const EXPERIENCE = ['first', 'some', 'some', 'expert'] as const

const SEED = 'a seed shop'

/** All there could be, in an order that never changes. */
const EVERYBODY: readonly Person[] = invite()

function invite(): Person[] {
  const dice = seededDice(SEED)
  const pick = <T>(from: readonly T[]) => from[Math.floor(dice() * from.length)]!
  const names = FIRST_NAMES.split(' ').flatMap((first) => LAST_NAMES.split(' ').map((last) => [first, last] as const))
  return shuffle(names, dice).map(([first, last]) => {
    const [city, timezone] = pick(PLACES)
    return {
      email: `${first}.${last}@${pick(DOMAINS)}`.toLowerCase(),
      name: `${first} ${last}`,
      timezone,
      attributes: {
        first_name: first,
        city,
        garden: pick(GARDENS),
        experience: pick(EXPERIENCE),
        orders: Math.floor(dice() * 12),
        since: `${2019 + Math.floor(dice() * 7)}-${String(1 + Math.floor(dice() * 12)).padStart(2, '0')}-01`,
      },
    }
  })
}

function shuffle<T>(items: readonly T[], dice: () => number): T[] {
  return items
    .map((item) => ({ item, at: dice() }))
    .toSorted((a, b) => a.at - b.at)
    .map(({ item }) => item)
}

const moveTo = (person: Person, domain: TroubledDomain): Person => ({
  ...person,
  email: person.email.replace(/@.*/, `@${domain}`),
})

/** Among the first who get the letter, so that its campaign soon has something to say of each kind of trouble. */
const TROUBLED: Readonly<Record<number, TroubledDomain>> = {
  3: 'gone.example',
  6: 'slowmail.example',
  9: 'strict.example',
  12: 'thunder.example',
}

const READERS = 240
const FROM_FILE = 30
const GARDENERS = 60

/** Who gets the Seed Letter, without those who come from a file. */
export const readers: readonly Person[] = EVERYBODY.slice(0, READERS - FROM_FILE).map((person, index) =>
  TROUBLED[index] ? moveTo(person, TROUBLED[index]) : person,
)
export const readersFromFile: readonly Person[] = EVERYBODY.slice(READERS - FROM_FILE, READERS)
export const guests: readonly Person[] = readers.slice(100, 124)
export const gardeners: readonly Person[] = EVERYBODY.slice(READERS, READERS + GARDENERS)
const newcomers = EVERYBODY.slice(READERS + GARDENERS)
/** Who comes while the demo runs: a different somebody for every number. */
export const newcomer = (number: number): Person => oneOf(newcomers, number)

/** Somebody whose mail goes wrong in the way of the domain; a different somebody for every number, too. */
export const somebodyAt = (domain: TroubledDomain, number: number): Person =>
  moveTo(oneOf(newcomers.toReversed(), number), domain)

/** When everybody has had a turn, namesakes come. */
function oneOf(people: readonly Person[], number: number): Person {
  const person = people[number % people.length]!
  const round = Math.floor(number / people.length)
  return round === 0 ? person : { ...person, email: person.email.replace('@', `.${round}@`) }
}
