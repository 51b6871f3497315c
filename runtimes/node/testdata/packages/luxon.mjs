import { DateTime, Duration, Interval, Info, Settings, FixedOffsetZone, IANAZone } from 'luxon';

export default async function () {
  const show = (name, value) => console.log(name, JSON.stringify(value));
  Settings.now = () => Date.UTC(2024, 1, 29, 12, 30, 15, 250);
  const t = DateTime.fromISO('2024-02-29T10:20:30.456', { zone: 'Europe/Berlin' });
  show('iso', [t.toISO(), t.toUTC().toISO(), t.toISODate(), t.toISOWeekDate(), t.toHTTP(), t.toRFC2822(), t.toSQL(), t.toMillis(), t.toISO({ suppressMilliseconds: true, format: 'basic' })]);
  show('zones', ['America/New_York', 'Asia/Kolkata', 'Pacific/Auckland', 'utc+3', 'Asia/Kathmandu'].map((z) => { const d = t.setZone(z); return [d.toString(), d.zoneName, d.offset, d.offsetNameShort, d.offsetNameLong, d.isInDST]; }));
  show('format', ['yyyy-LL-dd HH:mm:ss.SSS ZZZZ', 'EEEE, d LLLL yyyy', 'ccc d LLL yy h:mm a', "'week' WW kkkk o q", 'DDDD TTTT', 'ff FFF', 'z ZZ ZZZ', 'X x', 'G yy MM'].map((f) => t.toFormat(f)));
  show('locale', [DateTime.DATE_SHORT, DateTime.DATE_FULL, DateTime.DATE_HUGE, DateTime.TIME_SIMPLE, DateTime.TIME_WITH_SECONDS, DateTime.DATETIME_MED, DateTime.DATETIME_FULL, DateTime.DATETIME_HUGE_WITH_SECONDS].map((f) => t.toLocaleString(f)));
  show('parts', t.toLocaleParts(DateTime.DATETIME_SHORT));
  show('maths', [t.plus({ months: 1, days: 1, hours: 25 }), t.minus({ years: 1 }), t.startOf('week'), t.endOf('quarter'), t.set({ hour: 25 }), t.plus({ weeks: -5.5 }), t.startOf('month', { useLocaleWeeks: true })].map(String));
  const spring = DateTime.fromObject({ year: 2024, month: 3, day: 31, hour: 1, minute: 30 }, { zone: 'Europe/Berlin' });
  show('dst', [spring.plus({ hours: 1 }), spring.plus({ days: 1 }), DateTime.fromISO('2024-03-31T02:30', { zone: 'Europe/Berlin' }), DateTime.fromISO('2024-10-27T02:30', { zone: 'Europe/Berlin' })].map(String));
  show('diff', [t.diff(DateTime.fromISO('2021-12-25T00:00', { zone: 'Europe/Berlin' }), ['years', 'months', 'days', 'hours']).toObject(), t.diffNow('hours').toObject(), t.until(t.plus({ days: 2.5 })).toISO()]);
  show('relative', [{ days: -1 }, { hours: 5 }, { years: -2 }, { minutes: -30 }].map((d) => t.plus(d).hasSame(t, 'day')));
  show('parse', [DateTime.fromFormat('29/02/2024 7:05 PM', 'dd/MM/yyyy h:mm a', { zone: 'utc' }), DateTime.fromFormat('Feb 29, 2024', 'LLL d, yyyy', { zone: 'utc' }), DateTime.fromRFC2822('Tue, 01 Nov 2016 13:23:12 +0630', { setZone: true }), DateTime.fromHTTP('Sunday, 06-Nov-94 08:49:37 GMT', { zone: 'utc' }), DateTime.fromSQL('2017-05-15 09:24:15', { zone: 'utc' }), DateTime.fromSeconds(0, { zone: 'utc' }), DateTime.fromISO('2016-W05-4', { zone: 'utc' }), DateTime.fromISO('2016-200', { zone: 'utc' })].map(String));
  const wrong = DateTime.fromISO('2024-02-30');
  show('invalid', [wrong.isValid, wrong.invalidReason, wrong.invalidExplanation, DateTime.fromFormat('x', 'yyyy').invalidReason, DateTime.fromISO('2024-01-01', { zone: 'Mars/Base' }).invalidReason, String(wrong)]);
  show('explain', DateTime.fromFormatExplain('2024-13', 'yyyy-MM').invalidReason ?? DateTime.fromFormatExplain('2024-13', 'yyyy-MM').result);
  const d = Duration.fromObject({ hours: 30, minutes: 75, seconds: -5 });
  show('duration', [d.toISO(), d.normalize().toObject(), d.shiftTo('days', 'hours', 'minutes').toObject(), d.as('minutes'), d.toFormat("d 'd' hh:mm:ss"), Duration.fromISO('P1Y2M3DT4H5M6.7S').toObject(), d.toHuman(), d.rescale().toHuman({ unitDisplay: 'short' }), Duration.fromISO('PX').isValid, d.negate().toString(), Duration.fromMillis(90061001).rescale().toISO()]);
  const i = Interval.fromDateTimes(t, t.plus({ days: 3 }));
  show('interval', [i.length('hours'), i.contains(t.plus({ days: 1 })), i.splitBy({ days: 1 }).map((x) => x.toISODate()), i.overlaps(Interval.after(t.plus({ days: 2 }), { days: 5 })), i.toFormat('dd.MM.'), i.divideEqually(2).map((x) => x.toISOTime())]);
  show('info', [Info.months('short'), Info.weekdays(), Info.meridiems(), Info.eras('long'), Info.features(), Info.isValidIANAZone('Europe/Kyiv'), Info.hasDST('Asia/Tokyo')]);
  show('zone', [new FixedOffsetZone(90).name, IANAZone.create('Europe/London').offset(Date.UTC(2024, 6, 1)), IANAZone.isValidZone('X/Y'), DateTime.max(t, t.plus(1)).toMillis() - t.toMillis()]);
  show('now', [DateTime.utc().toISO(), DateTime.now().setZone('utc').toISO(), t < DateTime.utc(), t.weekNumber, t.ordinal, t.daysInMonth, t.isInLeapYear, t.weeksInWeekYear, t.monthLong, t.weekdayShort]);
}
